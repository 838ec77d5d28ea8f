import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Searches on several threads at once, whose programs share what the whole process shares.
@Suite(.patient)
struct SearchesBesideEachOtherTests {
    /// Static, so all threads of all searches have their values in one list, which a lock guards.
    private static let own = ThreadLocalValue<Box<Int>> { _ in Box(0) }

    /// Every schedule of two threads that make a value of the thread-local, and free it.
    private static func search() -> SimulationReport {
        ExecutionContextsTesting.search("shared list", schedules: 2_000, strategy: .exhaustive) {
            sim in
            let sum = Shared(0, name: "sum")
            for name in ["one", "two"] {
                sim.spawn(name) {
                    for _ in 0..<2 {
                        own.set(nil)
                        own.value()?.withValue { $0 += 1 }
                    }
                }
            }
            sim.finally("sum") { sum.value == 0 }
        }
    }

    @Test func `Law 33: a search does not depend on searches beside it`() async {
        let reports = Box([SimulationReport]())
        await offThePool {
            reports.value = [Self.search()]
            onThreads(4) {
                for _ in 0..<rounds(debug: 2, release: 8) {
                    let report = Self.search()
                    reports.withValue { $0.append(report) }
                }
            }
        }
        let alone = reports.value[0]
        #expect(alone.failure == nil, "\(alone)")
        for report in reports.value { #expect("\(report)" == "\(alone)") }
    }
}
