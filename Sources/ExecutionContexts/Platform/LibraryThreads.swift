internal import CPlatform
internal import Dispatch

/// The library's own threads, which the whole process shares.
///
/// A thread runs one body at a time. It then waits for the next one for a tenth of a second, and
/// ends. The system's queues do not serve here: all code of the process shares their 255 threads.
package enum LibraryThreads {
    /// How many bodies may run at a time, not counting indispensable ones.
    static var limit: Int { 1_024 }

    /// A body, with the name and the quality of service of its thread.
    struct Assignment: Sendable {
        let name: String
        var quality: UInt32 = 0
        /// Whether the body gets a thread beyond the limit as well; the process traps if the system
        /// has none.
        var isIndispensable = false
        /// Whether the thread runs nothing else. It then is indispensable as well.
        var hasThread = false
        let body: Work
    }

    private struct State: ~Copyable {
        /// Last in, first out: the stack of the newest thread is still in the processor's caches.
        var idle: [OwnThread] = []
        var bodies = 0
    }

    private static let state = Guarded(State())

    /// Runs a body on a thread of its own; false, without any effect, if there is none.
    @discardableResult
    static func run(_ assignment: Assignment) -> Bool {
        var idle: OwnThread?
        let isWithinLimit = state.withLock { state in
            if !assignment.isIndispensable {
                guard state.bodies < limit else { return false }
                state.bodies += 1
            }
            if !assignment.hasThread { idle = state.idle.popLast() }
            return true
        }
        guard isWithinLimit else { return false }
        if let idle {
            idle.assign(assignment)
            return true
        }
        if OwnThread.start(assignment) { return true }
        if !assignment.isIndispensable {
            state.withLock { $0.bodies -= 1 }
            return false
        }
        startOrTrap(assignment)
        return true
    }

    /// The same, for the other libraries.
    package static func run(named name: String, _ body: @escaping Work) -> Bool {
        run(Assignment(name: name, body: body))
    }

    /// Runs `body` on a new thread, which ends with it; the process traps if the system has none.
    static func start(named name: String, quality: UInt32, _ body: @escaping Work) {
        run(.init(name: name, quality: quality, isIndispensable: true, hasThread: true, body: body))
    }

    /// Requests a thread from the system again and again for a second, and then traps.
    private static func startOrTrap(_ assignment: Assignment) {
        for _ in 0..<50 {
            ParkWord().park(until: MonotonicClock.nanoseconds + 20_000_000)
            if OwnThread.start(assignment) { return }
        }
        stopMisuse(
            "The system has no thread for '\(assignment.name)', so its jobs would never begin (law 1). "
                + "The library runs jobs on \(state.withLock { $0.bodies }) threads. "
                + "Run fewer blocking jobs at a time, or raise the limits of the process.")
    }

    // MARK: - Called by the threads

    /// Adds a thread that has ended its body to the idle threads.
    fileprivate static func becomeIdle(_ thread: OwnThread, wasIndispensable: Bool) {
        state.withLock { state in
            if !wasIndispensable { state.bodies -= 1 }
            state.idle.append(thread)
        }
    }

    /// Removes a thread that wants to end from the idle threads; false if it has been given a body.
    fileprivate static func leave(_ thread: OwnThread) -> Bool {
        state.withLock { state in
            guard let index = state.idle.firstIndex(where: { $0 === thread }) else { return false }
            state.idle.remove(at: index)
            return true
        }
    }
}

private final class OwnThread: @unchecked Sendable {
    // Unchecked: until `parkWord` is unparked, `assignment` belongs to the caller that took the
    // thread from the idle ones. From then on it belongs to the thread.
    private var assignment: LibraryThreads.Assignment?
    private let parkWord = ParkWord()

    private init(_ assignment: LibraryThreads.Assignment) { self.assignment = assignment }

    /// Starts a thread with its first body; false if the system refuses it.
    static func start(_ assignment: LibraryThreads.Assignment) -> Bool {
        let reference = unsafe Unmanaged.passRetained(OwnThread(assignment))
        let hasStarted = unsafe ec_thread_start(
            { reference in
                unsafe Unmanaged<OwnThread>.fromOpaque(reference.unsafelyUnwrapped)
                    .takeRetainedValue().live()
                return nil
            }, reference.toOpaque())
        if !hasStarted { unsafe reference.release() }
        return hasStarted
    }

    /// Gives the thread its next body; for the caller that took it from the idle threads.
    func assign(_ assignment: LibraryThreads.Assignment) {
        self.assignment = assignment
        parkWord.unpark()
    }

    private func live() {
        repeat {
            let wasIndispensable = assignment?.isIndispensable ?? false
            let isLast = assignment?.hasThread ?? false
            runAssignment()
            if isLast { return }
            LibraryThreads.becomeIdle(self, wasIndispensable: wasIndispensable)
        } while isAssignedAgain()
    }

    /// Runs the body and frees it, on this thread (law 10).
    private func runAssignment() {
        guard let assignment = assignment.take() else { return }
        unsafe assignment.name.withCString { unsafe ec_thread_configure($0, assignment.quality) }
        AutoreleasePool.run(assignment.body)
    }

    /// Waits for the next body; false if none has come in time.
    private func isAssignedAgain() -> Bool {
        if parkWord.park(until: MonotonicClock.nanoseconds + 100_000_000) { return true }
        if LibraryThreads.leave(self) { return false }
        // A caller has taken this thread meanwhile, and its body is on its way.
        parkWord.park()
        return true
    }
}

extension DispatchQoS.QoSClass {
    /// The number of this class on Apple's systems, for `LibraryThreads`; zero where none is given.
    var number: UInt32 {
        switch self {
        case .background: 0x09
        case .utility: 0x11
        case .default: 0x15
        case .userInitiated: 0x19
        case .userInteractive: 0x21
        default: 0
        }
    }
}

/// The processors that the program may use: on Linux those that its affinity allows.
enum Processors {
    static let count = max(Int(ec_processor_count()), 1)
}
