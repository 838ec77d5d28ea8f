import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The shipped views under hundreds of schedules. A token would replay each of them.
@Suite(.patient)
struct ViewScheduleTests {
    @Test
    func `Laws 2, 33: under every schedule a serial view runs one job at a time and in order`()
        async
    {
        await underEverySchedule("serial view") { sim, onlooker in
            let view = sim.global.serial(named: "view")
            for name in ["a", "b"] {
                sim.spawn(name) {
                    view.execute { onlooker.visit("\(name)1") }
                    view.sync { onlooker.visit("\(name)2") }
                    onlooker.expect(onlooker.count("\(name)1") == 1, "sync has overtaken")
                    view.execute { onlooker.visit("\(name)3") }
                }
                sim.finally("\(name) in order") {
                    onlooker.log.filter { $0.hasPrefix(name) } == (1...3).map { "\(name)\($0)" }
                }
            }
        }
    }

    @Test
    func `Laws 2, 33: under every schedule a held serial view runs nothing but its holder's jobs`()
        async
    {
        await underEverySchedule("hold") { sim, onlooker in
            let view = sim.global.serial(named: "view")
            for name in ["a", "b"] {
                sim.spawn(name) {
                    view.execute { onlooker.visit("job") }
                    let hold = view.hold()
                    view.sync { onlooker.visit("inside") }
                    onlooker.visit("held")
                    hold.release()
                }
            }
            sim.finally("all") { onlooker.log.count == 6 }
        }
    }

    @Test
    func `Laws 1, 32, 33: under every schedule a limited view runs all jobs and keeps its limit`()
        async
    {
        await underEverySchedule("limited view") { sim, onlooker in
            let view = sim.global.limited(to: 2)
            for name in ["a", "b"] {
                sim.spawn(name) {
                    view.execute {
                        onlooker.visit(atMost: 2)
                        view.execute { onlooker.visit(atMost: 2) }
                    }
                    view.execute { onlooker.visit(atMost: 2) }
                }
            }
            sim.finally("all") { onlooker.log.count == 6 }
        }
    }

    @Test
    func `Laws 3, 33: under every schedule no job runs beside a view's barrier or overtakes it`()
        async
    {
        await underEverySchedule("barrier view") { sim, onlooker in
            let view = sim.global.barrier(named: "view")
            for name in ["a", "b"] {
                sim.spawn(name) {
                    view.execute { onlooker.visit(atMost: 2, "\(name) before") }
                    view.executeBarrier { onlooker.visit("\(name) alone") }
                    view.execute { onlooker.visit(atMost: 2, "\(name) after") }
                }
                sim.finally("\(name) in order") {
                    onlooker.log.filter { $0.hasPrefix(name) }
                        == ["before", "alone", "after"].map { "\(name) \($0)" }
                }
            }
        }
    }

    @Test
    func
        `Laws 1, 33: under every schedule a bounded view runs what it accepts, within its capacity`()
        async
    {
        await underEverySchedule("bounded view, refusing") { sim, onlooker in
            let view = sim.global.bounded(to: 2, overflow: .refuse)
            for name in ["a", "b"] {
                sim.spawn(name) {
                    for _ in 0..<3 {
                        do {
                            try view.tryExecute { onlooker.note("ran") }
                            onlooker.note("accepted")
                        } catch {
                            onlooker.note("refused")
                        }
                    }
                }
            }
            sim.invariant("no more are queued than there is room for") {
                onlooker.count("accepted") - onlooker.count("ran") <= 2
            }
            sim.finally("each is accepted and runs, or is refused") {
                onlooker.count("ran") == onlooker.count("accepted")
                    && onlooker.count("ran") + onlooker.count("refused") == 6
            }
        }
    }

    @Test
    func `Laws 1, 33: under every schedule each dropped job is reported, and the newest job runs`()
        async
    {
        await underEverySchedule("bounded view, dropping") { sim, onlooker in
            let view = sim.serial(named: "base").bounded(
                to: 1, overflow: .dropOldest { _ in onlooker.note("dropped") })
            sim.spawn("a") { for index in 1...4 { view.execute { onlooker.visit("\(index)") } } }
            sim.finally("each ran or was dropped") {
                onlooker.log.count == 4 && onlooker.count("4") == 1
            }
            sim.finally("in order") {
                let ran = onlooker.log.filter { $0 != "dropped" }
                return ran == ran.sorted()
            }
        }
    }

    @Test(arguments: [Overflow.wait, .callerRuns])
    func `Laws 1, 33: under every schedule every caller of a bounded view gets an outcome`(
        overflow: Overflow
    ) async {
        await underEverySchedule("bounded view, waiting") { sim, onlooker in
            let view = sim.global.bounded(to: 1, overflow: overflow)
            for name in ["a", "b"] {
                sim.spawn(name) {
                    let answers = (0..<3).map { _ in view.submit { onlooker.note("ran") } }
                    for answer in answers {
                        onlooker.expect((try? answer.wait()) != nil, "no answer")
                    }
                }
            }
            sim.finally("all, once") { onlooker.count("ran") == 6 }
        }
    }

    @Test
    func `Laws 3, 33: under every schedule a barrier overtakes no job that has waited for room`()
        async
    {
        await underEverySchedule("bounded barrier view") { sim, onlooker in
            let view = sim.global.barrier(named: "base").bounded(to: 4, overflow: .wait)
            sim.spawn("submitter") {
                let answers = (0..<5).map { index in
                    view.submit { onlooker.visit(atMost: 5, "\(index)") }
                }
                // At most the first and the last of the five wait now.
                for answer in answers[1...3] { try? answer.wait() }
                view.executeBarrier { onlooker.visit("alone") }
                view.execute { onlooker.visit("after") }
            }
            sim.finally("in order") {
                (0..<5).allSatisfy {
                    onlooker.firstIndex(of: "\($0)") < onlooker.firstIndex(of: "alone")
                } && onlooker.firstIndex(of: "alone") < onlooker.firstIndex(of: "after")
                    && onlooker.log.count == 7
            }
        }
    }

    @Test func `Laws 1, 25, 33: under every schedule no job runs after its token was invalidated`()
        async
    {
        await underEverySchedule("token") { sim, onlooker in
            let (main, token) = (sim.main, InvalidationToken())
            let view = main.valid(while: token)
            sim.spawn("worker") {
                let answers = (0..<3).map { _ in
                    view.submit {
                        onlooker.visit("ran")
                        onlooker.expect(onlooker.count("gone") == 0, "ran when gone")
                    }
                }
                for answer in answers {
                    do {
                        try answer.wait()
                        onlooker.note("answered")
                    } catch {
                        onlooker.expect((error as? Refusal)?.reason == .invalidated, "\(error)")
                    }
                }
            }
            sim.spawn("screen") {
                main.execute {
                    token.invalidate()
                    onlooker.note("gone")
                }
            }
            sim.finally("what was answered has run") {
                onlooker.count("ran") == onlooker.count("answered")
            }
        }
    }

    @Test
    func `Laws 6, 33: under every schedule an inline job overtakes no job accepted before it`()
        async
    {
        await underEverySchedule("inline") { sim, onlooker in
            let view = sim.main.inlineIfCurrent()
            let hasArrived = Tracked(false, name: "arrived")
            sim.spawn("network") {
                view.execute { onlooker.visit("first") }
                hasArrived.value = true
            }
            sim.spawn("user") {
                view.execute { if hasArrived.value { view.execute { onlooker.visit("second") } } }
            }
            sim.finally("in order") {
                onlooker.firstIndex(of: "first") < onlooker.firstIndex(of: "second")
                    || onlooker.count("second") == 0
            }
        }
    }

    @Test func `Law 33: how long a job takes in real time does not show in the schedule`() async {
        // More than the millisecond for which a view keeps a thread, in one run of a schedule and
        // not in the next one.
        let slow = Box(true)
        await underEverySchedule("slow jobs", schedules: 20) { sim, onlooker in
            let isSlow = slow.withValue { slow in
                slow.toggle()
                return slow
            }
            let view = sim.global.serial(named: "view")
            sim.spawn("a") {
                for _ in 0..<6 {
                    view.execute {
                        // A sleep would take simulated time.
                        if isSlow { _ = poll(nil, 0, 2) }
                        onlooker.note("ran")
                    }
                }
            }
            sim.spawn("b") { view.execute { onlooker.note("ran") } }
            sim.finally("all") { onlooker.count("ran") == 7 }
        }
    }
}
