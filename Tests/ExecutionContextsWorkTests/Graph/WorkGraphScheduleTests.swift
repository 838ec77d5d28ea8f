import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// The shipped code under hundreds of schedules, each of which its token replays.
@Suite(.patient)
struct WorkGraphScheduleTests {
    @Test func `Laws 31, 33: under every schedule equal work starts once and ends once for each`()
        async
    {
        await underEverySchedule("single flight") { sim, onlooker in
            let context = sim.serial(named: "works")
            let flights = SingleFlight<Int, Int>(on: context) { _, flight in
                onlooker.note("begun")
                sim.global.execute { flight.succeed(7) }
            }
            for name in ["a", "b"] {
                sim.spawn(name) { flights[1].subscribe { _ in onlooker.note("\(name) notified") } }
                sim.finally("\(name) was notified once") { onlooker.count("\(name) notified") == 1 }
            }
            sim.spawn("c") {
                let subscription = flights[1].subscribe { _ in onlooker.note("c notified") }
                if subscription.cancel() { onlooker.note("c left") }
            }
            sim.finally("c was notified or left") {
                onlooker.count("c notified") + onlooker.count("c left") == 1
            }
            sim.finally("no work is in flight") {
                flights.graph.liveCount == 0 && (1...3).contains(onlooker.count("begun"))
            }
        }
    }

    @Test func `Laws 31, 33: under every schedule the end and the last subscriber's leaving agree`()
        async
    {
        await underEverySchedule("end against leaving") { sim, onlooker in
            let context = sim.serial(named: "works")
            let graph = WorkGraph(on: context)
            let work: SharedWork<Int> = graph.work(named: "race") { flight in
                flight.onCancel { onlooker.note("cancelled") }
                sim.global.execute { if flight.succeed(1) { onlooker.note("ended") } }
            }
            let subscription = work.subscribe { _ in onlooker.note("notified") }
            sim.spawn("leaves") { if subscription.cancel() { onlooker.note("left") } }
            sim.spawn("changes") { subscription.priority = .high }
            sim.finally("notified or left") {
                onlooker.count("notified") + onlooker.count("left") == 1
            }
            sim.finally("ended, cancelled, or never begun") {
                onlooker.count("ended") + onlooker.count("cancelled") <= 1 && graph.liveCount == 0
                    && onlooker.count("notified") <= onlooker.count("ended")
            }
        }
    }

    @Test func `Laws 32, 33: under every schedule the last priority of each subscriber counts`()
        async
    {
        await underEverySchedule("priorities") { sim, onlooker in
            let context = sim.serial(named: "works")
            let flight = Box<Flight<Int>?>(nil)
            let work: SharedWork<Int> = WorkGraph(on: context).work(named: "wanted") {
                flight.value = $0
            }
            let (first, second) = (
                work.subscribe { _ in }, work.subscribe(priority: .lowest) { _ in }
            )
            sim.spawn("first") {
                first.priority = .highest
                first.priority = .low
            }
            sim.spawn("second") { second.priority = .high }
            sim.spawn("third") { second.cancel() }
            sim.finally("only the first subscriber's last priority counts") {
                // The flight is released at the end of the schedule.
                defer { flight.value = nil }
                return flight.value?.priority == .low
            }
        }
    }
}
