internal import CPlatform
internal import Synchronization

extension Async {
    /// Blocks the calling thread until there is an outcome, and returns the value or throws the error (law 27).
    ///
    /// For threads that may block: a command-line tool's main thread, a thread of your own, an XCTest. It cannot be called
    /// in asynchronous code; a synchronous function that a task calls can call it. The program traps with
    /// a message where it could never end - on the serial context that would have to complete it, inside a callback of
    /// what it waits for - and on the few threads that run Swift tasks, Swift Testing's among them. Write `get()` or a
    /// callback there. If it has ended there is nothing to wait for, and no thread is refused.
    ///
    /// Giving up throws ``AsyncError/timedOut(after:)`` and cancels nothing. The time is real also under a context with
    /// virtual time. Zero and negative limits mean what has ended already; nil is no limit.
    @inlinable
    @available(*, noasync, message: "It blocks a thread that runs tasks (law 27): use 'try await get()'.")
    public func wait(
        timeout: Duration? = nil, file: StaticString = #file, line: UInt = #line
    ) throws -> Value {
        if cell.isPending { try cell.block(timeout, file: file, line: line) }
        let outcome: Outcome = cell.outcome()
        return try outcome.get()
    }

    /// Blocks the calling thread for up to so many seconds; infinity is no limit, not-a-number stops the program (law 27).
    @available(*, noasync, message: "It blocks a thread that runs tasks (law 27): use 'try await get()'.")
    public func wait(
        timeout seconds: Double, fileID: StaticString = #fileID, file: StaticString = #file,
        line: UInt = #line
    ) throws -> Value {
        try wait(
            timeout: TimeLimit.checked(seconds: seconds, fileID: fileID, line: line), file: file, line: line)
    }
}

extension AsyncCell {
    /// Blocks the calling thread until this has ended, or throws when time is up.
    @usableFromInline
    final func block(_ timeout: Duration?, file: StaticString, line: UInt) throws {
        // What this thread has put off may be what it waits for.
        Errands.run()
        guard isPending else { return }
        let deadline = TimeLimit.after(timeout)
        if deadline != .min {
            var isOver = false
            while !isOver, let obstacle = firstObstacle() {
                switch obstacle {
                case .certain(let obstacle):
                    stopMisuse(
                        "wait() would never end: \(obstacle) (law 27). Wait elsewhere, or use a callback or get(). "
                            + "Waited for: \(chain)", file: file, line: line)
                // First for that one: then it is known.
                case .ifEnded(let decider):
                    checkMayBlock(file, line)
                    isOver = !decider.park(until: deadline)
                }
            }
            checkMayBlock(file, line)
            if !isOver, park(until: deadline) { return }
        }
        throw AsyncError.timedOut(after: timeout ?? .zero)
    }

    private func checkMayBlock(_ file: StaticString, _ line: UInt) {
        require(
            !ec_is_cooperative(),
            "wait() was called on a thread that runs Swift tasks, of which there are few (law 27). "
                + "Use 'try await get()' there; a context that a test drives by hand is to be run first. "
                + "Waited for: \(chain)", file: file, line: line)
    }

    /// Blocks the calling thread until this has ended; false if time is up.
    private func park(until deadline: Int64) -> Bool {
        let waiting = WaitingThread()
        join(waiting)
        // If this ended meanwhile, telling the thread may be what it has put off.
        Errands.run()
        if waiting.park(until: deadline) { return true }
        // Not cancelled: whoever waited has it still, and may wait again.
        if leave(waiting, cancelsIfLast: false) { return false }
        return waiting.park(until: Parker.never)
    }

    /// Why a thread that waits for this may wait for ever.
    private enum Obstacle {
        case certain(String)
        /// It is not known before another cell has ended.
        case ifEnded(AsyncCell)
    }

    /// Why what this waits for can never come to the calling thread, as far as that is known.
    private func firstObstacle() -> Obstacle? {
        var known: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var next = [self]
        var decider: AsyncCell?
        while let cell = next.popLast() {
            if let obstacle = cell.obstacle { return .certain(obstacle) }
            if let open = cell.decider { decider = decider ?? open }
            for need in cell.needs {
                let source = need.source
                if source === self { return .certain("it waits for itself") }
                if source.isPending {
                    if known.insert(ObjectIdentifier(source)).inserted { next.append(source) }
                } else if unsafe Frame.isCurrent(source.identity), source.isAwaited(by: need.party) {
                    return .certain(
                        "the caller is inside a callback of what it waits for, and callbacks take turns")
                }
            }
        }
        return decider.map { .ifEnded($0) }
    }
}

/// A thread that waits until it is told.
private final class WaitingThread: Party, @unchecked Sendable {
    // Unchecked: the mark is atomic, and the record is the waiting thread's own.
    private let isTold = Atomic<Bool>(false)
    private let parker: Parker

    override init() {
        unsafe parker = Parker(Threads.own)
        super.init()
    }

    /// True when it has been told, false when time is up.
    func park(until deadline: Int64) -> Bool {
        // Acquiring: who was told sees the outcome.
        while !isTold.load(ordering: .acquiring) {
            if unsafe Seam.now(Threads.own) >= deadline { return false }
            parker.park(until: deadline, then: .whenThereIsRoom)
        }
        return true
    }

    override func tell(by cell: AsyncCell) {
        // An exchange, since what has ended may sink below a mere store. After it this may be gone.
        let parker = parker
        _ = isTold.exchange(true, ordering: .releasing)
        unsafe parker.unpark(by: Threads.own)
    }

    override var label: String { "a thread" }
}
