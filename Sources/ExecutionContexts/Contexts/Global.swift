public import Dispatch

/// Runs work on the threads that the system shares out, many pieces at a time.
///
/// It has no barriers, since the global queues ignore them: `.global.barrier()` is a view that has. Work
/// that blocks a thread belongs on `.blocking`.
///
/// Work waits in a line of the library's own, and one request at a time asks the system for a thread: a worker
/// that comes takes piece after piece and asks for the next one if it leaves anything behind. So no piece is
/// hidden behind a slow one, and handing over a piece costs a fraction of handing it to the system.
@safe public struct GlobalContext: ExecutionContext {
    // The lines live as long as the program. Counting references to them would have every submitter and every
    // worker write to the same few words, which costs more than all the rest of a submission.
    private let reference: Unmanaged<Gate<RootQueue>>

    /// The context of one quality of service.
    public init(qos: DispatchQoS.QoSClass = .default) {
        unsafe reference = .passUnretained(RootQueue.line(qos))
    }

    public func execute(_ work: consuming @escaping Work) {
        let work = LooseWork(work)
        unsafe reference._withUnsafeGuaranteedRef { line in
            if Seam.isAnywhere { return executeSimulated(work) }
            line.execute(work.assembled())
        }
    }

    @inline(never)
    private func executeSimulated(_ work: LooseWork) {
        let work = work.assembled()
        if unsafe Seam.submit(work, for: line.identity) { return }
        line.execute(work)
    }

    /// The system's queue that the threads come from.
    public var queue: DispatchQueue { line.base.queue }

    /// Yes on this quality of service, otherwise not known (law 4).
    public var isCurrent: Bool? { line.isCurrent == true ? true : line.base.isCurrent }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { line.name }

    public var runsAnywhere: Bool { true }

    private var line: Gate<RootQueue> { unsafe reference.takeUnretainedValue() }
}

/// A queue of the system's own, and the one line of work before it.
private struct RootQueue: ReliableContext {
    let queue: DispatchQueue
    private let mark: QueueMark

    private init(_ qos: DispatchQoS.QoSClass) {
        queue = .global(qos: qos)
        mark = .of(queue)
    }

    func execute(_ work: @escaping Work) { queue.async(execute: work) }

    var isCurrent: Bool? { mark.isCurrent }

    static func line(_ qos: DispatchQoS.QoSClass) -> Gate<RootQueue> {
        switch qos {
        case .background: background
        case .utility: utility
        case .userInitiated: userInitiated
        case .userInteractive: userInteractive
        default: standard
        }
    }

    private static let background = line(.background, "global(background)")
    private static let utility = line(.utility, "global(utility)")
    private static let standard = line(.default, "global")
    private static let userInitiated = line(.userInitiated, "global(userInitiated)")
    private static let userInteractive = line(.userInteractive, "global(userInteractive)")

    private static func line(_ qos: DispatchQoS.QoSClass, _ name: String) -> Gate<RootQueue> {
        Gate(base: RootQueue(qos), width: .max, name: name)
    }
}

extension ExecutionContext where Self == GlobalContext {
    /// The threads that the system shares out.
    public static var global: GlobalContext { GlobalContext() }

    /// The threads that the system shares out, at a quality of service.
    public static func global(qos: DispatchQoS.QoSClass) -> GlobalContext { GlobalContext(qos: qos) }
}

extension GlobalContext: ReliableContext {}
