internal import CPlatform
internal import Synchronization

/// Checks all pools that have workers with threads, or have had them since the look before, on one
/// thread, for as long as there is such a pool.
///
/// A wait that the library knows of gives up its permit at once. The monitor finds the rest: jobs
/// that block in the system or wait for each other by other means, and jobs that have been queued
/// for too long behind a long one. It looks every five milliseconds while any pool has queued jobs,
/// and up to eight times more rarely while none has. At a pool with queued jobs, of whose workers
/// none was awake, it looks each millisecond for a while.
enum PoolMonitor {
    private struct State: ~Copyable {
        var pools: [PoolCore] = []
        var isRunning = false
    }

    private static let state = Guarded(State())
    /// What the thread sleeps on: one if it is to look at once.
    private static let word = Atomic<UInt32>(0)

    /// The interval between two looks, in nanoseconds.
    static var quickInterval: Int64 { 1_000_000 }
    static var shortInterval: Int64 { 5_000_000 }
    static var longInterval: Int64 { 40_000_000 }

    /// Adds a pool that has a worker with a thread; starts the thread if there is none.
    static func add(_ core: PoolCore) {
        // Acquiring and releasing, here and below: the monitor clears the mark and then reads the
        // accounting; a thread that sets the mark has changed the accounting before.
        if core.isMonitored.exchange(true, ordering: .acquiringAndReleasing) { return }
        let mustStart = state.withLock { state in
            state.pools.append(core)
            if state.isRunning { return false }
            state.isRunning = true
            return true
        }
        if mustStart {
            LibraryThreads.run(.init(name: "pool monitor", isIndispensable: true, body: run))
        } else {
            wake()
        }
    }

    /// Brings the next look forward.
    static func wake() {
        // Releasing: the look sees what the caller did.
        word.store(1, ordering: .releasing)
        unsafe withUnsafePointer(to: word) { unsafe ec_wake_one($0) }
    }

    private static func run() {
        var interval = shortInterval
        var (starved, lastLook) = ([PoolCore](), MonotonicClock.nanoseconds)
        repeat {
            var isPressed = isWokenEarly(within: interval)
            // Quick looks are for the pools that starve: elsewhere a thread that computes may be
            // asleep for a few milliseconds, too.
            let now = MonotonicClock.nanoseconds
            let looksAtAll = starved.isEmpty || isPressed || now - lastLook >= shortInterval
            if looksAtAll { lastLook = now }
            let pools = looksAtAll ? state.withLock { $0.pools } : starved
            starved = []
            for core in pools {
                switch core.checkWorkers() {
                case .starved: starved.append(core)
                case .pressed: isPressed = true
                case .keepsUp: break
                case .asleep: forget(core)
                }
            }
            if !starved.isEmpty {
                interval = quickInterval
            } else {
                interval = isPressed ? shortInterval : min(2 * interval, longInterval)
            }
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
        _ = core.isMonitored.exchange(false, ordering: .acquiringAndReleasing)
        // A worker may have started between the look and the exchange, and found the mark set.
        if core.isAwake { addAgain(core) }
    }

    /// Adds a pool again, on the monitor's own thread.
    private static func addAgain(_ core: PoolCore) {
        if core.isMonitored.exchange(true, ordering: .acquiringAndReleasing) { return }
        state.withLock { $0.pools.append(core) }
    }

    /// Sleeps for that long, or until `wake` is called (true).
    private static func isWokenEarly(within nanoseconds: Int64) -> Bool {
        let end = MonotonicClock.nanoseconds + nanoseconds
        // Acquiring: see `wake`.
        while word.load(ordering: .acquiring) == 0, MonotonicClock.nanoseconds < end {
            unsafe withUnsafePointer(to: word) { unsafe ec_wait($0, 0, end) }
        }
        return word.exchange(0, ordering: .acquiring) == 1
    }
}
