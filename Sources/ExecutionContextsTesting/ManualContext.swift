public import ExecutionContexts
internal import Foundation

/// A serial context that runs nothing until it is told to, in a time of its own.
///
/// ```swift
/// let context = ManualContext()
/// let service = Service(on: context)
/// service.refresh()
/// context.advance(by: .seconds(30))
/// #expect(service.isStale)
/// ```
///
/// Views of it take its time with them, so no delay, repeat or time limit under it waits for the real clock
/// (law 7). Work may be submitted from any thread; one thread at a time runs it. A delay that neither comes nor
/// is cancelled keeps the context alive, as the context keeps the delay.
public final class ManualContext: SerialContext {
    public let name: String
    private let clock = ManualTime()
    private let state = Locked(State())

    private struct State {
        var waiting: [Work] = []
        /// The thread that runs work now.
        var runner: Thread?
    }

    /// Makes a context with a time of its own, which stands at zero.
    public init(name: String = "manual") { self.name = name }

    // MARK: Being a context

    public func execute(_ work: @escaping Work) { state.withLock { $0.waiting.append(work) } }

    /// Yes inside the work that it runs, no elsewhere.
    public var isCurrent: Bool? { state.withLock { $0.runner } === Thread.current }

    public var time: any TimeSource { clock }

    // MARK: Being told

    /// The present, in this context's time. It starts at zero.
    public var now: Moment { clock.now }

    /// How many pieces of work are ready to run.
    public var readyCount: Int { state.withLock { $0.waiting.count } }

    /// How many delays are set and not due.
    public var delayedCount: Int { clock.delayedCount }

    /// Runs the oldest piece that is ready; false if there is none.
    @discardableResult
    public func runNext() -> Bool {
        guard let work = begin() else { return false }
        defer { state.withLock { $0.runner = nil } }
        work()
        return true
    }

    /// Runs what is ready, and what becomes ready by it, until nothing is; time stands still.
    ///
    /// - Returns: how many pieces ran.
    @discardableResult
    public func runReady() -> Int {
        var count = 0
        while runNext() { count += 1 }
        return count
    }

    /// Moves time on by `duration` and runs, in order, everything that becomes due on the way.
    public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

    /// Moves time on to `moment` and runs, in order, everything that becomes due on the way.
    ///
    /// Work that is ready runs first. Each delay runs at its own deadline: `now` says so while it does. Time
    /// does not go back: an earlier moment only runs what is ready.
    public func advance(to moment: Moment) {
        runReady()
        while clock.fireNext(upTo: moment) { runReady() }
        clock.skip(to: moment)
    }

    private func begin() -> Work? {
        state.withLock { state in
            require(
                state.runner == nil,
                "'\(name)' was told to run from within its own work, or by two threads at a time: it is serial "
                    + "(law 2). Let the test run it, and the work submit.")
            guard !state.waiting.isEmpty else { return nil }
            state.runner = Thread.current
            return state.waiting.removeFirst()
        }
    }
}
