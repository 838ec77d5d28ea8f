import ExecutionContexts
import TestSupport
import Testing

/// Random programs over sections and coordinators; a seed that fails is printed and fails again.
@Suite(.serialized, .patient)
struct CoordinationProgramTests {
    @Test(arguments: seeds(debug: 30, release: 300))
    func `Laws 14 to 18, 20: a few threads see exclusion, order and their own writes`(seed: UInt64)
        async
    {
        await watched {
            let program = CoordinationProgram(
                seed: seed, bodies: 4, operations: rounds(debug: 60, release: 400))
            program.run()
            #expect(program.fault == nil)
        }
    }

    @Test(arguments: seeds(debug: 10, release: 100))
    func
        `Laws 14 to 18, 20: more bodies than pool threads see exclusion, order and their own writes`(
            seed: UInt64
        ) async
    {
        await watched {
            let program = CoordinationProgram(
                seed: seed, bodies: 120, operations: rounds(debug: 6, release: 30))
            program.run()
            #expect(program.fault == nil)
        }
    }
}
