public import Dispatch

/// Runs work on the threads that the system shares out, many pieces at a time.
///
/// It has no barriers, since the global queues ignore them: `.global.barrier()` is a view that has. Work
/// that blocks a thread belongs on `.blocking`.
public struct GlobalContext: ExecutionContext {
    /// The system's queue behind it.
    public let queue: DispatchQueue

    /// The context of one quality of service.
    public init(qos: DispatchQoS.QoSClass = .default) { queue = .global(qos: qos) }

    public func execute(_ work: @escaping Work) { queue.async(execute: work) }

    /// Yes on this quality of service, otherwise not known (law 4).
    public var isCurrent: Bool? { QueueMark(queue).isCurrent }

    public func checkIsCurrent() { dispatchPrecondition(condition: .onQueue(queue)) }

    public var name: String {
        // "com.apple.root.utility-qos"
        let quality = queue.label.split(separator: ".").last?.split(separator: "-qos").first
        return quality == "default" || quality == nil ? "global" : "global(\(quality!))"
    }
}

extension ExecutionContext where Self == GlobalContext {
    /// The threads that the system shares out.
    public static var global: GlobalContext { GlobalContext() }

    /// The threads that the system shares out, at a quality of service.
    public static func global(qos: DispatchQoS.QoSClass) -> GlobalContext { GlobalContext(qos: qos) }
}
