internal import CPlatform

extension SerialView {
    /// Waits for `body` to run in its turn; from the view's own work it runs at once, as a part of it.
    ///
    /// Where it makes no difference to the base which thread runs its work, the caller runs the body itself, so that
    /// waiting cannot exhaust a pool (law 20). Otherwise the body runs on the base: not for a thread that it needs.
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isCurrent == true { return try body() }
        guard base.runsAnywhere else { return try syncOnBase(body) }
        enter()
        defer { leave() }
        return try unsafe Frame.enter(identity, body)
    }

    /// Keeps the view to the caller; neither the base nor a thread of it waits meanwhile.
    func hold() -> ExclusiveHold {
        if holding.isMine {
            holding.again()
        } else if isCurrent == true {
            return .nothing
        } else {
            enter()
            holding.begin()
        }
        return ExclusiveHold(releasing: { if self.holding.end() { self.leave() } })
    }

    private func syncOnBase<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // Unsafe in name only: body and result cross to the other thread and back, one at a time, and the
        // beacon orders the two.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            let turn = Turn()
            // Unsafe in name only: read by the other thread while this one waits.
            nonisolated(unsafe) let callers = unsafe ec_frame_top()
            execute { [end = turn.end] in
                unsafe Frame.continuing(callers) { unsafe work() }
                _ = end
            }
            turn.wait()
        }
        guard let result = unsafe result else {
            stopMisuse(
                "'\(name)' let go of work that a thread was waiting for (law 1): its base loses work.")
        }
        return try result.get()
    }
}

/// Waits until a piece of work has ended or has been let go of: until `end` dies.
private struct Turn: ~Copyable {
    private let beacon = Beacon()
    private(set) var end: End

    final class End: Sendable {
        private let end: Beacon
        init(_ end: Beacon) { self.end = end }
        deinit { end.signal() }
    }

    init() { end = End(beacon) }

    consuming func wait() {
        let beacon = beacon
        _ = consume self
        beacon.wait()
    }
}
