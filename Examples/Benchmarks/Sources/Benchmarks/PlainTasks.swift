import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import SeededBugs

/// How fast programs of plain Swift concurrency are simulated, and how soon their faults show.
enum PlainTaskBenchmarks {
    private struct Wrong: Error {}

    // MARK: Schedules in a second

    private actor Counter {
        private(set) var count = 0

        func add() async {
            let old = count
            await Task.yield()
            count = old + 1
        }
    }

    @MainActor private final class Model {
        private(set) var loads = 0
        func load() { loads += 1 }
    }

    /// About thirty jobs.
    private static let jobs: @Sendable () async throws -> Void = {
        let counter = Counter()
        await withTaskGroup { group in
            for _ in 0..<3 { group.addTask { await counter.add() } }
        }
        try await Task.sleep(for: .seconds(600))
        let (stream, source) = AsyncStream.makeStream(of: Int.self)
        Task {
            for number in 1...3 { source.yield(number) }
            source.finish()
        }
        let sum = await stream.reduce(0, +)
        let model = Model()
        async let one: Void = model.load()
        async let two: Void = model.load()
        _ = await (one, two)
        if sum != 6 { throw Wrong() }
    }

    static func rate(_ bench: Bench) {
        let schedules = bench.count(5_000)
        let rates = (0..<bench.rounds).map { _ in
            let time = time {
                let report = search("rate", schedules: schedules) { sim in
                    sim.task("jobs") { try await jobs() }
                }
                precondition(report.failure == nil, "\(report)")
            }
            return Double(schedules) / Double(time) * 1e9
        }
        bench.figure(
            "portfolio, plain tasks and actors, 30 jobs",
            "\(Int(rates.sorted()[rates.count / 2])) schedules/s",
            bar: ">= 30,000")
    }

    // MARK: By chance and by search

    /// The time until a program's fault shows, when it runs repeatedly: without a simulation, and
    /// in a search. The median of three attempts each.
    static func faults(_ bench: Bench) {
        let patience = Double(bench.count(3_000)) / 1_000
        withMainThreadFree { for bug in SeededBug.plain { fault(bug, bench, patience) } }
    }

    /// Runs `body` on another thread, while the main thread serves the main actor.
    private static func withMainThreadFree(_ body: @escaping @Sendable () -> Void) {
        let isOver = Promise<Void>()
        Thread {
            body()
            isOver.succeed(())
        }.start()
        while !isOver.async.isCompleted {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
        }
    }

    /// When a fault showed: after how many seconds, and in which run or schedule.
    private typealias Showing = (seconds: Double, number: Int)

    private static func fault(_ bug: SeededBug, _ bench: Bench, _ patience: Double) {
        guard let program = bug.plainProgram else { return }
        func middle(_ attempt: (UInt64) -> Showing) -> Showing {
            (0..<3).map(attempt).sorted { $0.seconds < $1.seconds }[1]
        }
        let isHang = bug.leavesThreads
        let chance = middle { _ in byChance(program, isHang, patience) }
        let search = middle { bySearch(bug, seed: $0) }
        let shown =
            chance.seconds < .infinity
            ? String(format: "run %d, %.1f ms", chance.number, chance.seconds * 1e3)
            : String(format: "not in %.1f s", patience)
        bench.figure(
            bug.name,
            String(
                format: "by chance: %@; by search: schedule %d, %.1f ms", shown, search.number,
                search.seconds * 1e3))
    }

    private static func bySearch(_ bug: SeededBug, seed: UInt64) -> Showing {
        var schedule: Int?
        let time = ContinuousClock().measure {
            let report: SimulationReport = bug.search(schedules: 100_000, seed: seed)
            schedule = report.failure?.schedule
        }
        guard let schedule else { fatalError("\(bug.name) was not found") }
        return (time / .seconds(1), schedule)
    }

    /// Runs the program until a run fails, or does not end where that is the fault.
    private static func byChance(
        _ program: @escaping SeededBug.PlainProgram, _ isHang: Bool, _ patience: Double
    ) -> Showing {
        let clock = ContinuousClock()
        let start = clock.now
        var runs = 0
        while true {
            runs += 1
            let run = Async { try await program(false) }
            var (failed, isOver) = (false, true)
            do { try run.wait(timeout: .seconds(isHang ? 0.2 : patience)) } catch is AsyncError {
                isOver = false
            } catch {
                failed = true
            }
            let seconds = (clock.now - start) / .seconds(1)
            if failed || !isOver && isHang { return (seconds, runs) }
            if !isOver || seconds >= patience { return (.infinity, runs) }
        }
    }
}
