import TestSupport
import Testing

/// Every run of the coordinator's protocol, on a machine with store buffers.
@Suite(.serialized, .patient)
struct CoordinatorModelTests {
    typealias Role = CoordinatorModel.Role

    /// Small programs, each explored in every order of its steps.
    static let small: [[Role]] = [
        [.thread([.read, .read]), .thread([.write])],
        [.thread([.read, .read]), .thread([.write], isImpatient: true)],
        [.thread([.enqueue, .read]), .thread([.read]), .writeContext],
        [.thread([.enqueue, .read], helps: true), .thread([.read]), .writeContext],
        [.thread([.enqueue, .write]), .thread([.read]), .writeContext],
        [.thread([.enqueue, .write], helps: true), .thread([.write]), .writeContext],
        [
            .thread([.enqueue, .read], helps: true), .thread([.write], isImpatient: true),
            .writeContext,
        ],
        [.thread([.enqueue, .read], isImpatient: true), .thread([.read]), .writeContext],
        [.thread([.enqueueRead, .write]), .thread([.write]), .pool],
        [.thread([.enqueue, .enqueueRead, .enqueue]), .writeContext, .pool],
        [.thread([.enqueue, .enqueueRead, .write], helps: true), .writeContext, .pool],
        [.thread([.enqueueRead, .enqueue, .read], helps: true), .writeContext, .pool],
    ]

    /// Programs with more runs.
    static let large: [[Role]] = [
        [.thread([.read]), .thread([.write]), .thread([.write])],
        [.thread([.read]), .thread([.read]), .thread([.write])],
        [
            .thread([.enqueueRead, .enqueue, .read], helps: true), .thread([.write]), .writeContext,
            .pool,
        ],
        [
            .thread([.enqueueRead, .write]), .thread([.write], isImpatient: true),
            .thread([.write]), .pool,
        ],
    ]

    /// The large programs and the omissions take half a minute in a debug build.
    private static let isThorough = rounds(debug: 0, release: 1) == 1

    @Test(arguments: sample(small, every: 2) + (isThorough ? large : []))
    func `Laws 17 and 18: no run breaks exclusion, misses a write or waits for ever`(
        _ roles: [Role]
    ) async {
        let result = await CoordinatorModel(roles: roles).explored()
        #expect(result.failure == nil, "\(result)")
        #expect(result.states > 500)
    }

    @Test(arguments: sample(small, every: 4, from: 1))
    func `Law 17: the same where an overtaken waiter looks at the clock`(_ roles: [Role]) async {
        let result = await CoordinatorModel(roles: roles, hasClock: true).explored()
        #expect(result.failure == nil, "\(result)")
    }

    @Test(arguments: sample(small, every: 4, from: 3))
    func `Law 17: the same without a barrier for all threads, and without the bias`(_ roles: [Role])
        async
    {
        for isBiased in [false, true] {
            let result = await CoordinatorModel(roles: roles, isBiased: isBiased, isPortable: true)
                .explored()
            #expect(result.failure == nil, "\(result)")
        }
    }

    @Test(arguments: isThorough ? CoordinatorModel.Omission.allCases : [])
    func `Exploration finds a fault when a part of the protocol is left out`(
        _ omission: CoordinatorModel.Omission
    ) async {
        for roles in Self.small + Self.large {
            let result = await CoordinatorModel(roles: roles, omission: omission).explored()
            if let failure = result.failure { return #expect(!failure.trace.isEmpty) }
        }
        Issue.record("not found")
    }
}
