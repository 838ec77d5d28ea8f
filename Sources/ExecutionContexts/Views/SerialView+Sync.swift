extension SerialView {
    /// Waits for `body` to run in order; inside the view's own work it runs at once, as a part of
    /// it.
    ///
    /// Inside a hold the caller holds once more meanwhile: another thread may release the hold.
    ///
    /// If the base's work may run anywhere, the caller takes the view, so that waiting cannot
    /// exhaust a pool (law 20). Otherwise it waits for its turn on the base. In both cases it runs
    /// the body itself, unless the base means a certain thread (law 4).
    @_disfavoredOverload
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let report else { return try sync(body, body) }
        // First of all: another `sync` would take the source (`takesSource`).
        let source = JobSource.takeOfSync(body)
        return try sync(body) { () throws(Failure) -> Value in
            var result: Result<Value, Failure>?
            report(source) { result = Result(catching: body) }
            // A report runs the body.
            return try result!.get()
        }
    }

    /// Runs `body`. Where it takes the place of a job of the base, runs `reported`, which reports
    /// it to the observers of the base.
    private func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, _ reported: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if unsafe Frame.isCurrent(identity) { return try body() }
        if exclusiveOwner.isMine, exclusiveOwner.holdAgain() {
            defer { endHold() }
            return try body()
        }
        guard base.runsAnywhere else { return try syncOnBase(body) }
        enter()
        defer { releaseOwnership() }
        return try unsafe Frame.enter(identity, reported)
    }

    /// Gives the caller exclusive access; neither the base nor one of its threads waits meanwhile.
    public func hold() -> ExclusiveHold {
        if !exclusiveOwner.holdAgain() {
            if unsafe Frame.isCurrent(identity) { return .nothing }
            enter()
            exclusiveOwner.begin()
        }
        return ExclusiveHold { self.endHold() }
    }

    private func endHold() { if exclusiveOwner.end() { releaseOwnership() } }

    private func syncOnBase<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result = unsafe NestedWait.during(for: .init(identity), named: .text(name)) {
            base.jobsMeanThread
                ? AwaitedEnd.result(of: body, from: base, named: name) { execute($0) }
                : CallerTurn.result(of: body, in: self, over: base)
        }
        guard let result else { trapDropped() }
        return try result.get()
    }

    /// Traps because a job that the caller waited for was dropped: there is no value to return.
    func trapDropped() -> Never {
        if let token = WaitForecast.of(base).invalidated {
            stopMisuse(
                "'\(name)' was waited for, but the token of '\(token)' was invalidated, and nothing starts there any more "
                    + "(law 1). Wait with run or submit, which answer with a refusal.")
        }
        stopMisuse(
            "'\(name)' dropped a job that a thread was waiting for (law 1): its base drops jobs.")
    }
}
