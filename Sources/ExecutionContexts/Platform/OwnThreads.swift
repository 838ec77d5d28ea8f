internal import CPlatform
internal import Synchronization

/// The library's own threads, which all pools of the process share.
///
/// A thread runs one body at a time. Afterwards it stays for a tenth of a second, for the next
/// body, and ends. The system's queues are not used for this: they share 255 threads among
/// everybody in the process.
enum OwnThreads {
    /// How many bodies may run at a time, not counting those that may not be refused.
    static var limit: Int { 1_024 }

    /// A body, and how its thread presents itself meanwhile.
    struct Assignment: Sendable {
        let name: String
        var quality: UInt32 = 0
        /// Whether the body gets a thread beyond the limit as well, and the program stops where the
        /// system has none.
        var isIndispensable = false
        let body: Work
    }

    private struct State: ~Copyable {
        /// The last to come is the first to go: its stack is still at hand for the processor.
        var idle: [OwnThread] = []
        var bodies = 0
    }

    private static let state = Guarded(State())

    /// Runs a body on a thread of its own; false if there is none, and nothing has happened.
    @discardableResult
    static func run(_ assignment: Assignment) -> Bool {
        var idle: OwnThread?
        let isWithinLimit = state.withLock { state in
            if !assignment.isIndispensable {
                guard state.bodies < limit else { return false }
                state.bodies += 1
            }
            idle = state.idle.popLast()
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
        insist(assignment)
        return true
    }

    /// Asks the system again and again for a second, and then stops the program.
    private static func insist(_ assignment: Assignment) {
        for _ in 0..<50 {
            pause()
            if OwnThread.start(assignment) { return }
        }
        stopMisuse(
            "The system has no thread for '\(assignment.name)', so its jobs would never begin (law 1). The library "
                + "has \(state.withLock { $0.bodies }) threads at work. Have fewer jobs that wait at a time, or raise the limits "
                + "of the process.")
    }

    private static func pause() {
        unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 1) { word in
            unsafe word.initialize(repeating: 0)
            unsafe ec_wait(word.baseAddress.unsafelyUnwrapped, 0, MonotonicClock.nanoseconds + 20_000_000)
        }
    }

    // MARK: - For the threads

    /// A thread has ended its body and is ready for the next one.
    fileprivate static func rest(_ thread: OwnThread, wasIndispensable: Bool) {
        state.withLock { state in
            if !wasIndispensable { state.bodies -= 1 }
            state.idle.append(thread)
        }
    }

    /// A thread wants to end; false if it has been given a body.
    fileprivate static func leave(_ thread: OwnThread) -> Bool {
        state.withLock { state in
            guard let index = state.idle.firstIndex(where: { $0 === thread }) else { return false }
            state.idle.remove(at: index)
            return true
        }
    }
}

private final class OwnThread: @unchecked Sendable {
    // Unchecked: `assignment` belongs to whoever took the thread from the idle ones, until it has
    // set `word`, and from then on to the thread.
    private var assignment: OwnThreads.Assignment?
    private let word = Atomic<UInt32>(OwnThread.idle)

    private static let idle: UInt32 = 0
    private static let assigned: UInt32 = 1
    /// How long it stays without a body, in nanoseconds.
    private static let stay: Int64 = 100_000_000

    private init(_ assignment: OwnThreads.Assignment) { self.assignment = assignment }

    /// Starts a thread with its first body; false if the system refuses it.
    static func start(_ assignment: OwnThreads.Assignment) -> Bool {
        let reference = unsafe Unmanaged.passRetained(OwnThread(assignment))
        let hasStarted = unsafe ec_thread_start(
            { reference in
                unsafe Unmanaged<OwnThread>.fromOpaque(reference.unsafelyUnwrapped).takeRetainedValue().live()
                return nil
            }, reference.toOpaque())
        if !hasStarted { unsafe reference.release() }
        return hasStarted
    }

    /// Gives it its next body; for whoever took it from the idle ones.
    func assign(_ assignment: OwnThreads.Assignment) {
        self.assignment = assignment
        // Releasing: the thread sees the assignment.
        word.store(Self.assigned, ordering: .releasing)
        unsafe withUnsafePointer(to: word) { unsafe ec_wake_one($0) }
    }

    private func live() {
        repeat {
            let wasIndispensable = assignment?.isIndispensable ?? false
            runAssignment()
            OwnThreads.rest(self, wasIndispensable: wasIndispensable)
        } while isAssignedAgain()
    }

    /// Runs the body and frees it, on this thread (law 10).
    private func runAssignment() {
        guard let assignment = assignment.take() else { return }
        unsafe assignment.name.withCString { unsafe ec_thread_present($0, assignment.quality) }
        Batch.run(assignment.body)
    }

    /// Waits for the next body; false if there has been none for a while.
    private func isAssignedAgain() -> Bool {
        park(until: MonotonicClock.nanoseconds + Self.stay)
        // Relaxed, here and below: `park` has acquired it.
        if word.load(ordering: .relaxed) == Self.idle {
            if OwnThreads.leave(self) { return false }
            // It has been taken meanwhile, and its body is on its way.
            park(until: Parker.never)
        }
        word.store(Self.idle, ordering: .relaxed)
        return true
    }

    private func park(until deadline: Int64) {
        // Acquiring: see `assign`.
        while word.load(ordering: .acquiring) == Self.idle, MonotonicClock.nanoseconds < deadline {
            unsafe withUnsafePointer(to: word) { unsafe ec_wait($0, Self.idle, deadline) }
        }
    }
}
