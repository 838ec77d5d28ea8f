import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Simulations that async tests await.
@Suite(.patient)
struct AsyncSimulationTests {
    @Sendable private static func balance(_ sim: SimulatedWorld) {
        let balance = Tracked(100, name: "balance")
        for name in ["alice", "bob"] {
            sim.spawn(name) { if balance.value >= 80 { balance.value -= 80 } }
        }
        sim.finally("never below zero") { balance.value >= 0 }
    }

    /// Calls the synchronous overload, which a synchronous function selects.
    private func searchSynchronously() -> SimulationReport { search("balance", Self.balance) }

    @Test func `Law 33: an awaited simulation finds the same failure as a synchronous one`()
        async throws
    {
        let awaited = try #require(await search("balance", Self.balance).failure)
        let plain = try #require(searchSynchronously().failure)
        #expect(awaited.description == plain.description)
        let error = await #expect(throws: SimulationFailure.self) {
            try await simulate("balance", Self.balance)
        }
        #expect(error?.description == plain.description)
        try await simulate("nothing", schedules: 10, ignoring: [.vacuous]) { _ in }
    }

    @Test func `Law 33: an awaited simulation blocks no thread of the cooperative pool`()
        async throws
    {
        // There are more searches than cooperative threads. None can end before the last task of
        // the group has run.
        let gate = DispatchSemaphore(value: 0)
        await withTaskGroup { group in
            for index in 0..<16 {
                group.addTask {
                    let report = await search(
                        "waiter \(index)", schedules: 2, patience: Patience.step,
                        ignoring: [.vacuous]
                    ) {
                        sim in
                        sim.spawn("waiter") {
                            gate.wait()
                            gate.signal()
                        }
                    }
                    #expect(report.failure == nil, "\(report)")
                }
            }
            group.addTask { gate.signal() }
        }
    }

    @Test func `Law 33: an awaited simulation inside a simulation is refused`() async {
        let report = await search("outer", schedules: 1) { sim in
            sim.task("x") { try await simulate("inner") { _ in } }
        }
        #expect(report.failure?.kind == .threw)
        #expect(report.failure?.happened.contains("inside another simulation") == true, "\(report)")
    }
}
