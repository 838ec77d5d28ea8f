import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// What lives outside of a simulation works on, whatever a simulated program does with it.
@Suite(.patient)
struct PlainOutsideTests {
    private struct Fault: Error {}

    /// Gives a job to a shared context when it is freed.
    private final class File: Sendable {
        let context: any SerialContext
        let isOpen = true
        init(_ context: any SerialContext) { self.context = context }
        deinit { context.execute {} }
    }

    /// Whether the context still runs a job, and those that were submitted before it.
    private func runs(_ context: any SerialContext) async -> Bool {
        (try? await context.run { true }) == true
    }

    /// Reads a setting, under a lock of Foundation's C code on which threads spin.
    private static func readSetting() { _ = UserDefaults.standard.string(forKey: "setting") }

    @Test(.systemIsSimulated)
    func `Law 33: a lock of Foundation that threads outside take does not change a schedule`()
        async
    {
        await offThePool {
            let (isOver, outside) = (Box(false), DispatchGroup())
            for _ in 0..<3 {
                outside.enter()
                Thread.detachNewThread {
                    while !isOver.value { Self.readSetting() }
                    outside.leave()
                }
            }
            let report = search("settings", schedules: 300, ignoring: [.vacuous]) { sim in
                for name in ["alice", "bob"] {
                    sim.spawn(name) { for _ in 0..<20 { Self.readSetting() } }
                }
            }
            #expect(report.failure == nil, "\(report)")
            isOver.value = true
            outside.wait()
        }
    }

    @Test func `Law 33: an object that a condition keeps may use a shared view when it is freed`()
        async
    {
        let shared = GlobalContext().serial(named: "shared")
        for isChecked in [false, true] {
            let report = await search("freeing", schedules: 40) { sim in
                let file = File(shared)
                sim.spawn("alice") {
                    sim.step()
                    _ = file.isOpen
                }
                sim.spawn("bob") { sim.step() }
                sim.invariant("open") { file.isOpen }
                if isChecked { sim.finally("still open") { file.isOpen } }
            }
            #expect(report.failure == nil, "\(report)")
            #expect(await runs(shared))
        }
    }

    @Test func `Law 33: a view over a shared context goes on after a schedule that fails`() async {
        let shared = GlobalContext().serial(named: "shared")
        let failed = await search("failing", schedules: 2) { sim in
            sim.spawn("alice") {
                shared.execute {}
                throw Fault()
            }
        }
        #expect(failed.failure?.kind == .threw, "\(failed)")
        #expect(await runs(shared))
        let never = Promise<Void>()
        let stuck = await search("stuck", schedules: 2) { sim in
            sim.spawn("alice") {
                shared.execute {}
                try never.async.wait()
            }
        }
        #expect(stuck.failure?.kind == .lostWakeUp, "\(stuck)")
        #expect(await runs(shared))
    }

    @Test func `Law 33: an object that is freed at the end may use a context of the simulation`()
        async
    {
        let report = await search("freeing inside", schedules: 100, ignoring: [.vacuous]) { sim in
            let file = File(sim.serial(named: "files"))
            sim.spawn("alice") { _ = file.isOpen }
            sim.invariant("open") { file.isOpen }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: what a thread's object does when it is freed is part of the schedule`() {
        let report = search("freed by its thread") { sim in
            let log = Tracked<[String]>([], name: "log")
            let file = Logger(log)
            sim.spawn("alice") { _ = file.log.name }
            sim.spawn("bob") { log.value += ["bob"] }
            sim.finally("both") { log.value.count == 2 }
        }
        // One of the two updates is lost where they interleave.
        #expect(report.failure?.kind == .invariant, "\(report)")
    }

    private final class Logger: Sendable {
        let log: Tracked<[String]>
        init(_ log: Tracked<[String]>) { self.log = log }
        deinit { log.value += ["freed"] }
    }

    @Test func `Law 33: a task outside that a simulated thread resumes goes on outside`() async {
        let (stream, feed) = AsyncStream.makeStream(of: String.self)
        let received = Box<[String]>([])
        let reader = Task { for await word in stream { received.withValue { $0.append(word) } } }
        feed.yield("before")
        await eventually { received.value.count == 1 }
        let sent = Box(false)
        let report = await search("feeding", schedules: 3) { sim in
            sim.spawn("alice") {
                if !sent.value { sent.value = true; feed.yield("from inside") }
            }
        }
        #expect(report.failure?.kind == .foreign, "\(report)")
        #expect(report.description.contains("did not start"), "\(report)")
        feed.yield("after")
        feed.finish()
        await reader.value
        #expect(received.value == ["before", "from inside", "after"])
    }

    @Test func `Law 33: a thread outside that waits for a simulated one is woken`() async {
        let section = CriticalSection(name: "shared")
        let (isHeld, hasEntered) = (Box(false), Box(false))
        let waiter = Thread {
            while !isHeld.value { Thread.yieldProcessor() }
            section.execute {}
            hasEntered.value = true
        }
        waiter.start()
        let report = await search("holding", schedules: 1, ignoring: [.foreign, .nondeterminism]) {
            sim in
            sim.spawn("alice") {
                section.execute {
                    isHeld.value = true
                    // Until the thread outside has had time to park: any time is right. Few turns,
                    // since each lasts as long as the turns of all that compute beside it.
                    for _ in 0..<300 { Thread.yieldProcessor() }
                }
            }
        }
        _ = report
        await eventually { hasEntered.value }
    }

    @Test func `Law 33: a thread that a simulated one creates may use all processors`() async throws
    {
        let widths = Box<[Int]>([])
        // Made outside of the schedule, it is waited for outside.
        let done = DispatchSemaphore(value: 0)
        _ = await search("creating", schedules: 1) { sim in
            sim.spawn("alice") {
                Thread {
                    widths.withValue { $0.append(processorCount()) }
                    done.signal()
                }.start()
                done.wait()
            }
        }
        #expect(try #require(widths.value.first) == processorCount())
    }

    /// Takes a lock often while it is made.
    private final class Service: Sendable {
        static let shared = Service()
        static let slow = Service()
        let section = CriticalSection()
        init() { for _ in 0..<1_500 { section.execute {} } }
    }

    @Test func `Law 33: no other thread runs while a static variable is made`() async {
        let report = await search("making") { sim in
            for name in ["alice", "bob"] { sim.spawn(name) { Service.shared.section.execute {} } }
        }
        #expect(report.failure == nil, "\(report)")
        Service.shared.section.execute {}
    }

    @Test func `Law 33: a delay that a thread outside cancels is reported`() async {
        // Made outside of the schedule, it is waited for outside.
        let ended = DispatchSemaphore(value: 0)
        let report = await search("cancelling", schedules: 3) { sim in
            let context = sim.serial(named: "timer")
            sim.spawn("alice") {
                // Later than simulated time goes, so that the wait is outside.
                let delay = context.schedule(after: .seconds(10_000)) {}
                onThreadOutside {
                    delay.cancel()
                    ended.signal()
                }
                ended.wait()
            }
        }
        #expect(report.failure?.kind == .foreign, "\(report)")
    }
}

/// How many processors the calling thread may use.
private func processorCount() -> Int { ProcessInfo.processInfo.activeProcessorCount }

/// Waits for a condition, and lets other tasks run meanwhile.
private func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

extension Thread {
    fileprivate static func yieldProcessor() { sched_yield() }

    /// What waits in real time, with a part of the name that the report has for it.
    private static let realTime: [(name: String, use: @Sendable () -> Void)] = [
        ("a run loop", { RunLoop.current.run() }),
        ("a run loop", { RunLoop.current.run(until: .distantFuture) }),
        ("a run loop", { while !RunLoop.current.run(mode: .default, before: .distantFuture) {} }),
        ("a run loop", { RunLoop.main.perform {} }),
        ("a run loop", { RunLoop.main.perform(inModes: [.default]) {} }),
        (
            "a timer",
            { Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in }.invalidate() }
        ),
        ("a timer", { Timer(timeInterval: 1, repeats: false) { _ in }.invalidate() }),
        ("a timer", { Timer(fire: .now, interval: 1, repeats: false) { _ in }.invalidate() }),
    ]

    @Test(.dispatchIsSimulated, arguments: realTime.indices)
    func `Law 33: run loops and timers are named, and block nothing`(_ index: Int) {
        let (name, use) = Self.realTime[index]
        let report = search(name, schedules: 20) { sim in
            sim.spawn("alice", use)
            sim.spawn("bob") { sim.step() }
        }
        #expect(report.failure?.kind == .foreign, "\(report)")
        #expect(report.description.contains("'alice' gave work to '\(name)"), "\(report)")
    }

    @Test(.dispatchIsSimulated) func `Law 33: a thread that a simulated one detaches is simulated`()
        throws
    {
        let report = search("detached", schedules: 200) { sim in
            let count = Tracked(0, name: "count")
            sim.spawn("alice") {
                Thread.detachNewThread { count.value += 1 }
                count.value += 1
            }
            sim.finally("both") { count.value == 2 }
        }
        #expect(report.failure?.kind == .invariant, "\(report)")
    }

    @Test(.dispatchIsSimulated)
    func `Law 33: a detached thread may run before its creator's next step, and always runs`() {
        let report = search("unseen", schedules: 200) { sim in
            let (isSet, wasSeen) = (Box(false), Box(true))
            sim.spawn("alice") {
                Thread.detachNewThread { wasSeen.value = isSet.value }
                isSet.value = true
            }
            sim.spawn("bob") { sim.step() }
            sim.finally("was set") { wasSeen.value }
        }
        #expect(report.failure?.kind == .invariant, "\(report)")
        let many = search("many", schedules: 20) { sim in
            sim.spawn("alice") {
                let ends = DispatchSemaphore(value: 0)
                for _ in 0..<12 { Thread.detachNewThread { ends.wait() } }
                Thread.detachNewThread { for _ in 0..<12 { ends.signal() } }
            }
        }
        #expect(many.failure == nil, "\(many)")
    }

    @Test func `Run loops and timers are as before outside of simulations`() async {
        await offThePool {
            let (count, wasRun) = (Box(0), Box(false))
            let timer = Timer(timeInterval: 0, repeats: false) { _ in count.value += 1 }
            RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.perform { wasRun.value = true }
            while count.value == 0 || !wasRun.value {
                RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.001))
            }
            #expect(!timer.isValid)
            // No timer is left, so it does not wait.
            #expect(!RunLoop.current.run(mode: RunLoop.Mode("another"), before: .distantFuture))
        }
    }
}
