import Dispatch
import Foundation
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Semaphores and groups of Dispatch in a simulation: no line of the program is changed.
@Suite(.patient, .dispatchIsSimulated)
struct PlainSemaphoreTests {
    @Test(arguments: SemaphoreProgram.all)
    func `Law 33: a fault over a semaphore or a group is found, and replayed`(
        program: SemaphoreProgram
    ) throws {
        let report = search(program.description) { program.body($0, true) }
        let failure = try #require(report.failure, "\(report)")
        #expect(failure.kind == program.kind, "\(report)")
        let again = search(program.description, replay: failure.token) {
            program.body($0, true)
        }
        #expect(again.failure?.kind == failure.kind, "\(again)")
    }

    @Test(arguments: SemaphoreProgram.all)
    func `Law 33: a sound program over semaphores and groups passes`(program: SemaphoreProgram) {
        for strategy in [SimulationStrategy.portfolio, .random] {
            let count = rounds(debug: 500, release: 2_000)
            let report = search(program.description, schedules: count, strategy: strategy) {
                program.body($0, false)
            }
            #expect(report.failure == nil, "\(report)")
            #expect(report.schedules == count)
        }
    }

    @Test(arguments: SemaphoreProgram.all)
    func `Law 33: the search of all orders finds the fault, and proves its absence`(
        program: SemaphoreProgram
    ) {
        func run(_ isWrong: Bool) -> SimulationReport {
            search(program.description, schedules: 200_000, strategy: .exhaustive) {
                program.body($0, isWrong)
            }
        }
        #expect(run(true).failure?.kind == program.kind)
        let sound = run(false)
        #expect(sound.failure == nil, "\(sound)")
        #expect(sound.isComplete, "\(sound)")
    }
}
