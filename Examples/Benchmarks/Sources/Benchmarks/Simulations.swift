import ExecutionContexts
import ExecutionContextsTesting

/// The number of schedules that a simulation tries in a second.
enum SimulationBenchmarks {
    static func run(_ bench: Bench) {
        let strategies: [(String, SimulationStrategy)] = [
            ("portfolio", .portfolio), ("random", .random), ("walk", .walk),
            ("priorities", .priorities(depth: 2)),
        ]
        let schedules = bench.count(20_000)
        for (name, strategy) in strategies {
            let time = time {
                let report = search("benchmark", schedules: schedules, strategy: strategy) { sim in
                    let section = CriticalSection()
                    for _ in 0..<3 {
                        sim.spawn("thread") { for _ in 0..<10 { section.execute {} } }
                    }
                }
                precondition(report.failure == nil)
            }
            let rate = Double(schedules) / Double(time) * 1e9
            bench.figure(
                "\(name), 3 threads, 10 lock operations each", "\(Int(rate)) schedules/s",
                bar: name == "portfolio" ? ">= 10,000" : "")
        }
        PlainTaskBenchmarks.rate(bench)
    }
}
