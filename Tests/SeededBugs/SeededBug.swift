package import ExecutionContextsTesting

/// A small program with one fault, and its twin without the fault.
///
/// The programs are those of real services, reduced to the fault. `Corpus` measures the simulator
/// with them.
package struct SeededBug: Sendable, CustomStringConvertible {
    package let name: String
    /// The kinds of failure that a simulation may report.
    package let kinds: Set<SimulationFailure.Kind>
    /// The fewest switches of threads that show it, as the exhaustive strategy finds.
    package let depth: Int
    private let time: SimulationTime
    private let program: Program
    /// The program as a task that also runs without a simulation, if it is plain Swift concurrency.
    package let plainProgram: PlainProgram?

    package typealias Program = @Sendable (_ sim: SimulatedWorld, _ isMended: Bool) throws -> Void
    package typealias PlainProgram = @Sendable (_ isMended: Bool) async throws -> Void

    init(
        _ name: String, _ kinds: SimulationFailure.Kind..., depth: Int,
        time: SimulationTime = .whenIdle, plainProgram: PlainProgram? = nil,
        _ program: @escaping Program
    ) {
        self.name = name
        self.kinds = Set(kinds)
        self.depth = depth
        self.time = time
        self.plainProgram = plainProgram
        self.program = program
    }

    package var description: String { name }

    /// Whether its schedules leave blocked threads, which cannot be ended from outside.
    package var leavesThreads: Bool { !kinds.isDisjoint(with: [.deadlock, .lostWakeUp]) }

    package func search(
        isMended: Bool = false, schedules: Int = 5_000, seed: UInt64 = 0, replay: String? = nil,
        strategy: SimulationStrategy = .portfolio
    ) -> SimulationReport {
        ExecutionContextsTesting.search(
            name, schedules: schedules, strategy: strategy, time: time, replay: replay, seed: seed
        ) { sim in
            try program(sim, isMended)
        }
    }

    /// The same, without blocking the caller's thread.
    package func search(
        isMended: Bool = false, schedules: Int = 5_000, seed: UInt64 = 0, replay: String? = nil,
        strategy: SimulationStrategy = .portfolio
    ) async -> SimulationReport {
        await ExecutionContextsTesting.search(
            name, schedules: schedules, strategy: strategy, time: time, replay: replay, seed: seed
        ) { sim in
            try program(sim, isMended)
        }
    }

    /// The four best-known bugs. A search must find them in 30 schedules, 99 times in 100.
    package static let firstFour: [SeededBug] = [
        .lostUpdate, .crossedLocks, .checkThenAct, .callbackAfterCancel,
    ]

    package static let all: [SeededBug] =
        hops + locks + handMade + coordinators + cancelling + timed + tasks + views + asyncs + plain
        + suites
}
