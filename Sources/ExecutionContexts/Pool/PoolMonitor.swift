internal import CPlatform
internal import Synchronization

/// Looks at the pools that have workers with threads, all of them by one thread, for as long as
/// there is such a pool.
///
/// Waits that the library knows of make room for another worker at once. The monitor finds the
/// rest: jobs that block in the system or wait for each other by means of their own, and jobs that
/// have waited for too long behind a long one. It looks every five milliseconds while any pool has
/// jobs that wait, and up to eight times more rarely while none has.
enum PoolMonitor {
    private struct State: ~Copyable {
        var pools: [PoolCore] = []
        var isRunning = false
    }

    private static let state = Guarded(State())
    /// What the thread sleeps on: one if it is to look at once.
    private static let word = Atomic<UInt32>(0)

    /// Between two looks, in nanoseconds.
    static var shortTick: Int64 { 5_000_000 }
    static var longTick: Int64 { 40_000_000 }

    /// The pool has a worker with a thread.
    static func watch(_ core: PoolCore) {
        // Acquiring and releasing, here and below: the monitor lays the mark down and looks at the
        // roster, who sets it has changed the roster before.
        if core.isWatched.exchange(true, ordering: .acquiringAndReleasing) { return }
        let mustStart = state.withLock { state in
            state.pools.append(core)
            if state.isRunning { return false }
            state.isRunning = true
            return true
        }
        if mustStart {
            OwnThreads.run(.init(name: "pool monitor", isIndispensable: true, body: run))
        } else {
            hurry()
        }
    }

    /// Has the next look come now.
    static func hurry() {
        // Releasing: the look sees what the caller did.
        word.store(1, ordering: .releasing)
        unsafe withUnsafePointer(to: word) { unsafe ec_wake_one($0) }
    }

    private static func run() {
        var tick = shortTick
        repeat {
            var isPressed = isHurried(within: tick)
            for core in state.withLock({ $0.pools }) {
                switch core.lookAfterWorkers() {
                case .pressed: isPressed = true
                case .busy: break
                case .asleep: forget(core)
                }
            }
            tick = isPressed ? shortTick : min(2 * tick, longTick)
        } while !mayEnd()
    }

    private static func mayEnd() -> Bool {
        state.withLock { state in
            state.isRunning = !state.pools.isEmpty
            return !state.isRunning
        }
    }

    private static func forget(_ core: PoolCore) {
        state.withLock { state in state.pools.removeAll { $0 === core } }
        _ = core.isWatched.exchange(false, ordering: .acquiringAndReleasing)
        // A worker may have come between the look and the exchange, and found the mark.
        if core.isAwake { watchAgain(core) }
    }

    /// For the monitor itself, which goes on.
    private static func watchAgain(_ core: PoolCore) {
        if core.isWatched.exchange(true, ordering: .acquiringAndReleasing) { return }
        state.withLock { $0.pools.append(core) }
    }

    /// Sleeps for so long, or until the next look is to come at once (true).
    private static func isHurried(within nanoseconds: Int64) -> Bool {
        let end = MonotonicClock.nanoseconds + nanoseconds
        // Acquiring: see `hurry`.
        while word.load(ordering: .acquiring) == 0, MonotonicClock.nanoseconds < end {
            unsafe withUnsafePointer(to: word) { unsafe ec_wait($0, 0, end) }
        }
        return word.exchange(0, ordering: .acquiring) == 1
    }
}
