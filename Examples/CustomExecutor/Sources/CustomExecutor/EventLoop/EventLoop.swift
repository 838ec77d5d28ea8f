import ExecutionContexts

/// One thread that runs jobs in order, and polls file descriptors between them.
///
/// It is serial and never refuses a job, so it can be the executor of an actor that stores it. A
/// context that may refuse is no executor (law 13). The loop calls watchers on its own thread,
/// where the state of an actor can be used without `await`: see `LineReader`.
///
/// The loop ends when its last reference is released and the submitted jobs have run (law 10).
final class EventLoop: ActorBackingContext {
    let name: String
    private let core: LoopCore

    /// Starts the loop's thread.
    init(name: String) {
        self.name = name
        core = LoopCore()
        core.startThread(name: name)
    }

    deinit { core.close() }

    func execute(_ work: @escaping Work) { core.post(work) }

    /// True on the loop's thread, false elsewhere (law 4).
    var isCurrent: Bool? { core.isCurrent }

    /// Calls `call` on the loop whenever `descriptor` is readable or at its end.
    ///
    /// Traps with a message unless called on the loop. Stop watching before you close the
    /// descriptor.
    func watch(_ descriptor: Int32, _ call: @escaping Work) {
        preconditionIsCurrent("Watch a descriptor from a job of the loop.")
        core.watchers[descriptor] = call
    }

    /// Stops the calls for `descriptor`. Traps with a message unless called on the loop.
    func stopWatching(_ descriptor: Int32) {
        preconditionIsCurrent("Stop watching a descriptor from a job of the loop.")
        core.watchers[descriptor] = nil
    }
}
