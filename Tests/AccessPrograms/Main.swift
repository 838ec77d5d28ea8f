import ExecutionContextsTesting

/// Searches the programs, and prints a line for each wrong result and for each one that has run.
///
/// `faults SEEDS SCHEDULES`, `mended SCHEDULES`, `replays`, `orders [NAME]`.
@main enum Main {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.compactMap { Int($0) }
        switch arguments.first {
        case "faults": await findFaults(seeds: numbers[0], schedules: numbers[1])
        case "mended": await searchMended(schedules: numbers[0])
        case "replays": await replay()
        case "orders": tryOrders(arguments.dropFirst().first)
        default: print("faults SEEDS SCHEDULES, mended SCHEDULES, replays or orders [NAME]")
        }
    }

    private static func findFaults(seeds: Int, schedules: Int) async {
        for seed in 0..<UInt64(seeds) {
            for program in Program.all {
                let report = program.search(schedules, seed: seed, isMended: false)
                check(report.failure?.kind == program.kind, program.name, report)
            }
            for program in TaskProgram.all {
                let report = await search(program.name, schedules: schedules, seed: seed) { _ in
                    await program(isMended: false)
                }
                check(report.failure?.kind == .dataRace, program.name, report)
            }
        }
    }

    private static func searchMended(schedules: Int) async {
        for program in Program.all {
            let report = program.search(schedules, isMended: true)
            check(report.failure == nil, program.name, report)
        }
        for program in TaskProgram.all + TaskProgram.right {
            let report = await search(program.name, schedules: schedules, ignoring: [.vacuous]) {
                _ in await program(isMended: true)
            }
            check(report.failure == nil, program.name, report)
        }
    }

    private static func replay() async {
        for program in Program.all {
            let found = program.search(300, seed: 5, isMended: false)
            let report = program.search(1, replay: found.failure?.token, isMended: false)
            check(report.failure?.kind == program.kind, program.name, report)
        }
        for program in TaskProgram.all {
            let found = await search(program.name, schedules: 300, seed: 5) { _ in
                await program(isMended: false)
            }
            let report = await search(program.name, replay: found.failure?.token) { _ in
                await program(isMended: false)
            }
            check(report.failure?.kind == .dataRace, program.name, report)
        }
    }

    /// Tries all orders of the programs that have finitely many: proves the mended ones, and
    /// refutes the others.
    private static func tryOrders(_ name: String?) {
        for program in Program.all where program.isFinite && name ?? program.name == program.name {
            let report = program.search(2_000, .exhaustive, isMended: true)
            check(report.failure == nil && report.isComplete, program.name, report)
            let refuted = program.search(2_000, .exhaustive, isMended: false)
            check(refuted.failure?.kind == program.kind, program.name, refuted)
            if name != nil { print(report, refuted, separator: "\n") }
        }
    }

    private static func check(_ isRight: Bool, _ name: String, _ report: SimulationReport) {
        print(
            isRight ? "right: \(name), \(report.schedules) schedules" : "wrong: \(name)\n\(report)")
    }
}

extension Program {
    fileprivate func search(
        _ schedules: Int, _ strategy: SimulationStrategy = .portfolio, replay token: String? = nil,
        seed: UInt64 = 0, isMended: Bool
    ) -> SimulationReport {
        ExecutionContextsTesting.search(
            name, schedules: schedules, strategy: strategy, replay: token, seed: seed,
            ignoring: [.vacuous]
        ) { run($0, isMended: isMended) }
    }

    private func run(_ sim: SimulatedWorld, isMended: Bool) {
        let parts = self(isMended: isMended)
        for (number, thread) in parts.threads.enumerated() {
            sim.spawn("thread \(number + 1)") { thread() }
        }
        sim.finally("all is right") { parts.holds() }
    }

    fileprivate var kind: SimulationFailure.Kind {
        switch fault {
        case .race: .dataRace
        case .wrong: .invariant
        case .deadlock: .deadlock
        }
    }
}
