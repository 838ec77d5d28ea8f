import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// What becomes of a search whose caller has its report, because a thread was blocked.
@Suite(.patient)
struct GivenUpSearchTests {
    /// Signals when the search that has it is gone.
    private final class Ended: Sendable {
        private let signal: DispatchSemaphore
        init(_ signal: DispatchSemaphore) { self.signal = signal }
        deinit { signal.signal() }
    }

    /// The program blocks in its first run, until the search was given up.
    private final class Program: Sendable {
        let runs = Box(0)
        let release = DispatchSemaphore(value: 0)

        func run() {
            let run = runs.withValue { runs in
                runs += 1
                return runs
            }
            if run == 1 { release.wait() }
        }
    }

    @Test func `Law 33: a search that was given up begins no other schedule`() async {
        let (program, signal) = (Program(), DispatchSemaphore(value: 0))
        await offThePool {
            let ended = Ended(signal)
            let report = search("blocks once", patience: Patience.hangs[0]) { sim in
                withExtendedLifetime(ended) { program.run() }
                sim.spawn("alice") { sim.step() }
            }
            #expect(report.failure?.kind == .blocked)
            program.release.signal()
        }
        await offThePool { signal.wait() }
        #expect(program.runs.value <= 1)
    }

    @Test func `Law 33: a search of tasks that was given up leaves its turn to the others`() async {
        let program = Program()
        let report = await search("blocks once", patience: Patience.hangs[0]) { _ in
            await Task { program.run() }.value
        }
        #expect(report.failure?.kind == .blocked)
        program.release.signal()
        let other = await search("another", schedules: 20, ignoring: [.vacuous]) { _ in
            await Task {}.value
        }
        #expect(other.failure == nil)
        #expect(program.runs.value <= 1)
    }

    @Test func `Law 33: a search that was given up gets no turn for a first task later`() async {
        let (program, isLate) = (Program(), DispatchSemaphore(value: 0))
        let report = await search("blocks once", patience: Patience.hangs[0]) { sim in
            program.run()
            sim.task("late") { isLate.wait() }
        }
        #expect(report.failure?.kind == .blocked)
        program.release.signal()
        for _ in 0..<20 {
            let other = await search("another", schedules: 20, ignoring: [.vacuous]) { _ in
                await Task {}.value
            }
            #expect(other.failure == nil)
        }
        isLate.signal()
    }
}
