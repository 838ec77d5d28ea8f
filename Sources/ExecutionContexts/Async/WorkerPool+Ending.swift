extension WorkerPool {
    /// Ends when nothing runs in the pool and nothing waits; work of its own work included.
    ///
    /// It has to happen once: a pool that is fed without pause may never be idle. Delays that are not due do not count.
    public func drained() -> Async<Void> {
        let promise = Promise<Void>()
        core.whenDone { promise.succeed(()) }
        return promise.async
    }

    /// Takes no more work from now on; ends when what has been accepted has run.
    ///
    /// From now on `tryExecute` throws, `run` and `submit` resolve with a ``Refusal`` and `execute` stops the program. What
    /// has been accepted runs in any case, the delays and the views' turns that come later, too. It is the same for
    /// all priorities of the pool. A second call changes nothing, and ends when the first does.
    @discardableResult
    public func shutDown() -> Async<Void> {
        core.close()
        return drained()
    }
}
