import TestSupport
import Testing

/// Every run of the protocol of the lock inside an `Async`, on a machine with store buffers.
@Suite(.serialized, .patient)
struct EmbeddedLockModelTests {
    @Test(arguments: [false, true])
    func `One thread at a time is inside, and none waits for ever`(portable isPortable: Bool) async
    {
        let result = await EmbeddedLockModel(processors: 3, rounds: 1, isPortable: isPortable)
            .explored()
        #expect(result.failure == nil, "\(result)")
        #expect(result.states > 500)
        let again = await EmbeddedLockModel(processors: 2, rounds: 3, isPortable: isPortable)
            .explored()
        #expect(again.failure == nil, "\(again)")
    }

    @Test(arguments: EmbeddedLockModel.Omission.allCases)
    func `Exploration finds a fault when a part of the protocol is left out`(
        _ omission: EmbeddedLockModel.Omission
    ) async {
        for model in [
            EmbeddedLockModel(processors: 2, rounds: 2, omission: omission),
            EmbeddedLockModel(processors: 3, rounds: 1, omission: omission),
        ] {
            guard let failure = await model.explored().failure else { continue }
            #expect(failure.message.contains("waits for ever"))
            return #expect(!failure.trace.isEmpty)
        }
        Issue.record("not found")
    }
}
