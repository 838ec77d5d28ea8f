import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The library's delays under hundreds of schedules in which time races with jobs.
@Suite(.patient)
struct DelayScheduleTests {
    @Test
    func `Laws 7, 33: under every schedule a delay either runs or is cancelled by one caller`()
        async
    {
        await underEverySchedule("delay against cancel", time: .racing) { sim, onlooker in
            let context = sim.global.serial(named: "context")
            let delay = context.schedule(after: .seconds(1)) {
                onlooker.note("ran")
                onlooker.expect(sim.time.now.nanoseconds >= 1_000_000_000, "it was early")
            }
            for name in ["a", "b"] {
                sim.spawn(name) { if delay.cancel() { onlooker.note("cancelled") } }
            }
            sim.finally("one of the two") {
                onlooker.count("ran") + onlooker.count("cancelled") == 1
            }
        }
    }

    @Test
    func `Laws 7, 33: under every schedule a repetition cancelled on its context runs no more`()
        async
    {
        await underEverySchedule("repeat against cancel", time: .racing) { sim, onlooker in
            let context = sim.serial(named: "context")
            let repetition = context.schedule(every: .seconds(1)) {
                onlooker.visit("tick")
                onlooker.expect(onlooker.count("cancelled") == 0, "ran when cancelled")
            }
            sim.spawn("user") {
                context.execute {
                    repetition.cancel()
                    onlooker.note("cancelled")
                }
            }
            sim.finally("it was cancelled") { onlooker.count("cancelled") == 1 }
        }
    }
}
