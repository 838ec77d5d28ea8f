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
        if !holding.holdAgain() {
            if unsafe Frame.isCurrent(identity) { return .nothing }
            enter()
            holding.begin()
        }
        return ExclusiveHold(releasing: { if self.holding.end() { self.leave() } })
    }

    private func syncOnBase<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result = AwaitedEnd.result(of: body, from: base, named: name) { execute($0) }
        guard let result else { stopLoss() }
        return try result.get()
    }

    /// What a thread waited for was dropped: traps, since the wait has nothing to return.
    func stopLoss() -> Never {
        if let token = Outlook.of(base).invalidated {
            stopMisuse(
                "'\(name)' was waited for, but the token of '\(token)' was invalidated, and nothing starts there any more "
                    + "(law 1). Wait with run or submit, which answer with a refusal.")
        }
        stopMisuse("'\(name)' dropped work that a thread was waiting for (law 1): its base loses work.")
    }
}
