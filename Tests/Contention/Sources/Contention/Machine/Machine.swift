internal import CPlatform

/// A machine with a processor for each thread, which runs the library's own code in virtual time.
///
/// Each thread has a clock, which its steps advance. The thread whose clock is behind all others
/// runs, so that the steps of all threads come in the order of their times. A seeded generator
/// varies each step a little. So a run depends on nothing but its program and its seed.
public final class Machine: @unchecked Sendable {
    // Unchecked: one thread runs at a time, and hands the machine to the next one.

    /// The machine that runs. One runs at a time.
    nonisolated(unsafe) static var current = Machine(seed: 0)

    private(set) var lines = CacheLines()
    /// How many times a thread woke another one, or started one.
    private(set) var wakes = 0
    private(set) var barriers = 0

    private var threads: [SimulatedThread] = []
    private var running: SimulatedThread?
    /// The earliest time at which another thread could run.
    private var nextTime = Int64.max
    private var rng: UInt64
    private let done = SchedulerWord()
    /// Each names objects that have been made since it was last called.
    private var discoveries: [() -> Void] = []

    init(seed: UInt64) { rng = seed &* 2 &+ 1 }

    // MARK: Steps of the running thread

    var now: Int64 { running?.clock ?? 0 }
    var number: Int64 { Int64(running?.number ?? 0) }

    /// How far a thread may be ahead of the others while no cache line moves: what it does then
    /// concerns it alone. Without this, nearly every step would be on another thread of the system.
    private static let slack: Int64 = 250

    /// Lets time pass on the running thread.
    func spend(_ time: Int64) {
        guard let running else { return }
        running.clock += time + jitter()
        if running.clock - Self.slack > nextTime { handOver(from: running) }
    }

    func access(_ address: UInt, _ access: Access, _ site: Site) {
        guard let running else { return }
        if !lines.isKnown(address), !lines.hasName(address) { findName(address, site) }
        let line = lines.line(of: address)
        // Lines move in the order of time.
        while running.clock > nextTime, !line.stays(for: access, at: running.number) {
            handOver(from: running)
        }
        let end = line.access(access, by: running.number, at: running.clock, site)
        running.clock = end + jitter()
        if running.clock - Self.slack > nextTime { handOver(from: running) }
    }

    func name(_ start: UInt, byteCount: Int, _ name: String) {
        lines.name(start, byteCount: byteCount, name)
    }

    /// Names the record of a thread, and the line of its slots.
    func nameRecord(_ address: UInt) {
        if lines.hasName(address) { return }
        lines.name(address, byteCount: 2 * CacheLines.size, "record of a thread")
    }

    private func findName(_ address: UInt, _ site: Site) {
        // What it reads to find the objects is not counted.
        let thread = running
        running = nil
        for discover in discoveries { discover() }
        running = thread
        // The first cell of a ring that is used is its first one.
        if site == .ring, !lines.hasName(address) {
            lines.name(address, byteCount: Int(WorkRing.capacity) * 16, "cells of a ring")
        }
    }

    func passBarrier() {
        barriers += 1
        spend(Cost.barrier)
    }

    /// Between 0 and 3.
    private func jitter() -> Int64 {
        rng = rng &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int64(rng >> 62)
    }

    // MARK: Sleeping and waking

    func wait(on word: UnsafeRawPointer, _ expected: UInt32, until deadline: Int64) {
        spend(Cost.systemCall)
        guard let running, unsafe word.load(as: UInt32.self) == expected else { return }
        running.park(on: UInt(bitPattern: word), until: deadline)
        handOver(from: running)
    }

    func wake(_ word: UnsafeRawPointer) {
        let address = UInt(bitPattern: word)
        // The thread that has slept for longest.
        let sleeper = threads.filter { $0.word == address }.min { $0.clock < $1.clock }
        if let sleeper {
            wakes += 1
            sleeper.wake(at: now + Cost.wakeLatency)
            nextTime = min(nextTime, sleeper.time)
        }
        spend(sleeper == nil ? Cost.systemCall : Cost.wake)
    }

    /// Lets the running thread do nothing for a time, without the library.
    func pause(for time: Int64) {
        guard let running else { return }
        running.park(on: 1, until: running.clock + time)
        handOver(from: running)
    }

    func isAsleep(_ number: Int64) -> Bool { threads[Int(number)].word != 0 }
    func busyTime(of number: Int64) -> Int64 { threads[Int(number)].busyTime }

    // MARK: Threads

    /// Starts a thread, on a processor of its own.
    func start(_ body: @escaping @Sendable () -> Void) {
        if running != nil { wakes += 1 }
        let thread = SimulatedThread(
            number: threads.count, clock: now + (running == nil ? jitter() : Cost.wakeLatency))
        threads.append(thread)
        nextTime = min(nextTime, thread.time)
        thread.start(body) { [self] in runNext() }
        if running != nil { spend(Cost.wake) }
    }

    func atEnd(_ action: @escaping () -> Void) { running?.ending = action }

    /// Runs all threads until they have ended, with `build` before them on the calling thread.
    func run(_ build: () -> Void) {
        unsafe Self.current = self
        build()
        runNext()
        done.wait()
        precondition(threads.allSatisfy { $0.hasEnded }, "A simulated thread sleeps for ever.")
        discoveries = []
    }

    /// Before the first access to memory without a name, `action` names what it knows.
    func discover(_ action: @escaping () -> Void) { discoveries.append(action) }

    /// Counts from zero.
    func beginCount() {
        lines.beginCount()
        (wakes, barriers) = (0, 0)
    }

    private func handOver(from thread: SimulatedThread) {
        let next = choose()
        if next === thread { return }
        next?.resume()
        thread.pause()
    }

    /// Lets the next thread run, after the running one has ended.
    private func runNext() {
        guard let next = choose() else { return done.pass() }
        next.resume()
    }

    /// The thread whose time comes first becomes the running one.
    private func choose() -> SimulatedThread? {
        var (first, second): (SimulatedThread?, Int64) = (nil, .max)
        for thread in threads {
            let time = thread.time
            if time < first?.time ?? .max {
                (first, second) = (thread, first?.time ?? .max)
            } else {
                second = min(second, time)
            }
        }
        first?.begin()
        (running, nextTime) = (first, second)
        return first
    }
}
