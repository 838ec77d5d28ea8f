import TestSupport
import Testing

/// Every run of the lock's protocol, on a machine with store buffers.
@Suite(.serialized, .patient)
struct LockModelTests {
    @Test(arguments: [false, true])
    func `Law 14: one thread at a time is inside, and none waits for ever`(
        portable isPortable: Bool
    ) async {
        let result = await LockModel(processors: 3, rounds: 1, isPortable: isPortable).explored()
        #expect(result.failure == nil, "\(result)")
        #expect(result.states > 1_000)
        let again = await LockModel(processors: 2, rounds: 3, isPortable: isPortable).explored()
        #expect(again.failure == nil, "\(again)")
    }

    @Test(arguments: [Set([2]), [1, 2]])
    func `Law 15: a waiter with a limit enters or gives up, and loses no wake-up`(
        impatient: Set<Int>
    ) async {
        let result = await LockModel(processors: 3, rounds: 1, impatient: impatient).explored()
        #expect(result.failure == nil, "\(result)")
        #expect(result.states > 1_000)
    }

    @Test(arguments: LockModel.Omission.allCases)
    func `Exploration finds a fault when a part of the protocol is left out`(
        _ omission: LockModel.Omission
    )
        async
    {
        let models = [
            LockModel(processors: 2, rounds: 2, omission: omission),
            LockModel(processors: 3, rounds: 1, impatient: [2], omission: omission),
            LockModel(processors: 3, rounds: 2, omission: omission),
        ]
        for model in models {
            guard let failure = await model.explored().failure else { continue }
            let message = omission == .comparison ? "two threads are inside" : "waits for ever"
            #expect(failure.message.contains(message))
            return #expect(!failure.trace.isEmpty)
        }
        Issue.record("not found")
    }
}
