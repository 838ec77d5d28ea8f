import Testing

/// Every run of the coordinator's protocol, on a machine with store buffers.
@Suite(.timeLimit(.minutes(2)))
struct CoordinatorModelTests {
    typealias Role = CoordinatorModel.Role

    /// Small casts, each with everything that it can do in every order.
    static let casts: [[Role]] = [
        [.thread([.read]), .thread([.read]), .thread([.write])],
        [.thread([.read]), .thread([.write]), .thread([.write])],
        [.thread([.read, .read]), .thread([.write])],
        [.thread([.enqueue, .read]), .thread([.read]), .carrier],
        [.thread([.enqueue, .read], helps: true), .thread([.read]), .carrier],
        [.thread([.enqueue, .write]), .thread([.read]), .carrier],
        [.thread([.enqueue, .write], helps: true), .thread([.write]), .carrier],
    ]

    @Test(arguments: casts)
    func `Laws 17 and 18: no run breaks exclusion, misses a write or waits for ever`(_ cast: [Role]) {
        let result = CoordinatorModel(roles: cast).explore()
        #expect(result.failure == nil, "\(result)")
        #expect(result.states > 1_000)
    }

    @Test(arguments: casts.dropFirst())
    func `Law 17: the same without a barrier for all, and without the bias`(_ cast: [Role]) {
        for isBiased in [false, true] {
            let result = CoordinatorModel(roles: cast, isBiased: isBiased, isPortable: true).explore()
            #expect(result.failure == nil, "\(result)")
        }
    }

    @Test(arguments: CoordinatorModel.Omission.allCases)
    func `The check finds the fault when a part of the protocol is left out`(
        _ omission: CoordinatorModel.Omission
    ) throws {
        // The smallest first.
        let casts = [Self.casts[2]] + Self.casts[3...] + Self.casts[..<2]
        let failure = casts.lazy.compactMap {
            CoordinatorModel(roles: $0, omission: omission).explore().failure
        }
        .first
        let found = try #require(failure)
        #expect(!found.trace.isEmpty)
    }
}
