import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Deep chains of work end, fail, are cancelled and are freed without nesting the stack as deep.
@Suite(.patient)
struct WorkGraphDepthTests {
    private static let depth = rounds(debug: 20_000, release: 100_000)
    private let context = ManualContext()

    /// The top of a chain of works, each of which follows the one below it.
    private func chain(
        in graph: WorkGraph, on leaf: SharedWork<Int>
    ) -> SharedWork<Int> {
        var top = leaf
        for _ in 0..<Self.depth {
            let below = top
            top = graph.work(named: "link") { $0.follow(below) }
        }
        return top
    }

    @Test func `Works that never began are freed`() {
        let witness = Witness()
        weak let freed = witness
        do {
            let graph = WorkGraph(on: context)
            let leaf: SharedWork<Int> = graph.work(named: "leaf") { [witness] flight in
                withExtendedLifetime(witness) { _ = flight.succeed(1) }
            }
            _ = chain(in: graph, on: leaf)
        }
        withExtendedLifetime(witness) { #expect(freed != nil) }
    }

    @Test func `Works by key, each of which keeps the next, are freed`() {
        var flights = SingleFlight<Int, Int>(on: context) { $1.succeed($0) }
        for _ in 0..<Self.depth {
            flights = SingleFlight(on: context) { [flights] key, flight in
                flight.follow(flights[key])
            }
        }
        #expect(flights.graph.liveCount == 0)
    }

    @Test(arguments: ["ends", "fails", "is released", "is cancelled", "is never answered"])
    func `A chain in flight comes to its end`(how: String) throws {
        let graph = WorkGraph(on: context)
        let held = Box<Flight<Int>?>(nil)
        let leaf: SharedWork<Int> = graph.work(named: "leaf") { held.value = $0 }
        let value = chain(in: graph, on: leaf).value()
        context.runReady()
        #expect(graph.liveCount == Self.depth + 1)
        switch how {
        case "ends": held.value?.succeed(7)
        case "fails": held.value?.fail(WorkError.dropped("leaf"))
        case "is released": held.value = nil
        case "is cancelled": value.cancel()
        default: return withExtendedLifetime(held) {}
        }
        context.runReady()
        #expect(graph.liveCount == 0)
        if how == "ends" { #expect(try value.outcome?.get() == 7) }
        if how != "ends" { #expect(throws: (any Error).self) { try value.outcome?.get() } }
    }

    private final class Witness: Sendable {}
}
