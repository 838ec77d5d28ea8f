import Testing

/// Every run of the coordinator's protocol, on a machine with store buffers.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct CoordinatorModelTests {
    typealias Role = CoordinatorModel.Role

    /// Small casts, each with everything that it can do in every order.
    static let small: [[Role]] = [
        [.thread([.read, .read]), .thread([.write])],
        [.thread([.read, .read]), .thread([.write], isImpatient: true)],
        [.thread([.enqueue, .read]), .thread([.read]), .carrier],
        [.thread([.enqueue, .read], helps: true), .thread([.read]), .carrier],
        [.thread([.enqueue, .write]), .thread([.read]), .carrier],
        [.thread([.enqueue, .write], helps: true), .thread([.write]), .carrier],
        [.thread([.enqueue, .read], helps: true), .thread([.write], isImpatient: true), .carrier],
        [.thread([.enqueue, .read], isImpatient: true), .thread([.read]), .carrier],
        [.thread([.enqueueRead, .write]), .thread([.write]), .pool],
        [.thread([.enqueue, .enqueueRead, .enqueue]), .carrier, .pool],
        [.thread([.enqueue, .enqueueRead, .write], helps: true), .carrier, .pool],
        [.thread([.enqueueRead, .enqueue, .read], helps: true), .carrier, .pool],
    ]

    /// Those with more runs.
    static let large: [[Role]] = [
        [.thread([.read]), .thread([.write]), .thread([.write])],
        [.thread([.read]), .thread([.read]), .thread([.write])],
        [.thread([.enqueueRead, .enqueue, .read], helps: true), .thread([.write]), .carrier, .pool],
        [.thread([.enqueueRead, .write]), .thread([.write], isImpatient: true), .thread([.write]), .pool],
    ]

    /// The large ones, and looking for omissions, take half a minute in a debug build.
    private static let isThorough = rounds(debug: 0, release: 1) == 1

    @Test(arguments: small + (isThorough ? large : []))
    func `Laws 17 and 18: no run breaks exclusion, misses a write or waits for ever`(_ cast: [Role]) async {
        let result = await CoordinatorModel(roles: cast).explored()
        #expect(result.failure == nil, "\(result)")
        #expect(result.states > 500)
    }

    @Test(arguments: small)
    func `Law 17: the same where who is overtaken looks at the clock`(_ cast: [Role]) async {
        let result = await CoordinatorModel(roles: cast, hasClock: true).explored()
        #expect(result.failure == nil, "\(result)")
    }

    @Test(arguments: small)
    func `Law 17: the same without a barrier for all, and without the bias`(_ cast: [Role]) async {
        for isBiased in [false, true] {
            let result = await CoordinatorModel(roles: cast, isBiased: isBiased, isPortable: true).explored()
            #expect(result.failure == nil, "\(result)")
        }
    }

    @Test(arguments: isThorough ? CoordinatorModel.Omission.allCases : [])
    func `The check finds the fault when a part of the protocol is left out`(
        _ omission: CoordinatorModel.Omission
    ) async {
        for cast in Self.small + Self.large {
            let result = await CoordinatorModel(roles: cast, omission: omission).explored()
            if let failure = result.failure { return #expect(!failure.trace.isEmpty) }
        }
        Issue.record("not found")
    }
}
