import ExecutionContextsSearch
import ExecutionContextsTesting
import Testing

@testable import DropIn

/// `swift test --traits Searched` searches between the till's sections. Without the trait a search
/// would see no point at which another customer could come, and fail as vacuous.
struct TillTests {
    @Test func `A till sells what it has`() {
        let till = Till(tickets: 2)
        #expect((0..<3).map { _ in till.sell() } == [true, true, false])
    }

    @Test(.enabled(if: isSearched), .searched)
    func `The last ticket is sold once`() async {
        let till = Till(tickets: 1)
        async let alice = till.sell()
        async let bob = till.sell()
        let sold = await [alice, bob]
        #expect(sold.count { $0 } == 1)
    }

    @Test(.enabled(if: isSearched))
    func `A search finds the order in which a careless till sells it twice`() async {
        let report = await search("till") { _ in
            let till = Till(tickets: 1)
            async let alice = till.sellCarelessly()
            async let bob = till.sellCarelessly()
            let sold = await [alice, bob]
            try require(sold.count { $0 } == 1)
        }
        #expect(report.failure?.kind == .threw, "\(report)")
    }

    private struct Oversold: Error {}
    private func require(_ isTrue: Bool) throws { if !isTrue { throw Oversold() } }
}
