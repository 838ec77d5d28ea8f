import ExecutionContexts

/// One thread that runs work in order, and between two pieces looks after file descriptors.
///
/// It is serial and never refuses, so it can back an actor; of a context that may refuse, the compiler does not let one
/// take the `serialExecutor` (law 13). What it calls about a descriptor is a part of its work like any other, so the
/// actor may be used there without waiting: see `LineReader`.
///
/// It ends when nobody holds it any more and its work is done; what was submitted is not lost (law 10).
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

    /// Yes on the loop's thread, no elsewhere (law 4).
    var isCurrent: Bool? { core.isCurrent }

    /// Calls `call` on the loop whenever `descriptor` can be read or has come to its end.
    ///
    /// Only on the loop itself: elsewhere it stops the program. Stop watching before you close the descriptor.
    func watch(_ descriptor: Int32, _ call: @escaping Work) {
        preconditionIsCurrent("Watch a descriptor from work of the loop.")
        core.watchers[descriptor] = call
    }

    /// Forgets the descriptor, and what was to be called. Only on the loop itself.
    func stopWatching(_ descriptor: Int32) {
        preconditionIsCurrent("Stop watching a descriptor from work of the loop.")
        core.watchers[descriptor] = nil
    }
}
