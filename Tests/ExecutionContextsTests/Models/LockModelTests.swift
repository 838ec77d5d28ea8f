import Testing

/// Every run of the lock's protocol, on a machine with store buffers.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct LockModelTests {
    @Test(arguments: [false, true])
    func `Law 14: one at a time, and nobody is left waiting`(portable isPortable: Bool) async {
        let result = await LockModel(processors: 3, rounds: 1, isPortable: isPortable).explored()
        #expect(result.failure == nil, "\(result)")
        #expect(result.states > 1_000)
        let again = await LockModel(processors: 2, rounds: 3, isPortable: isPortable).explored()
        #expect(again.failure == nil, "\(again)")
    }

    @Test(arguments: [Set([2]), [1, 2]])
    func `Law 15: a wait with a limit ends in or out, and takes no wake-up with it`(impatient: Set<Int>) async
    {
        let result = await LockModel(processors: 3, rounds: 1, impatient: impatient).explored()
        #expect(result.failure == nil, "\(result)")
        #expect(result.states > 1_000)
    }

    @Test(arguments: LockModel.Omission.allCases)
    func `The check finds the fault when a part of the protocol is left out`(_ omission: LockModel.Omission)
        async
    {
        let models = [
            LockModel(processors: 2, rounds: 2, omission: omission),
            LockModel(processors: 3, rounds: 1, impatient: [2], omission: omission),
            LockModel(processors: 3, rounds: 2, omission: omission),
        ]
        for model in models {
            guard let failure = await model.explored().failure else { continue }
            #expect(failure.sentence.contains(omission == .comparison ? "two are inside" : "waits for ever"))
            return #expect(!failure.trace.isEmpty)
        }
        Issue.record("not found")
    }
}
