import ExecutionContexts
package import ExecutionContextsTesting
package import Testing

/// Fails the test if one of many schedules of a program shows a fault; debug builds try a third.
package func underEverySchedule(
    _ name: String, schedules: Int = 300, time: SimulationTime = .whenIdle,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (SimulatedWorld, Onlooker) -> Void
) async {
    let failure = Box<SimulationFailure?>(nil)
    await offThePool {
        failure.value =
            search(
                name, schedules: rounds(debug: schedules / 3, release: schedules), time: time,
                patience: Patience.step
            ) { sim in
                let onlooker = Onlooker(sim)
                sim.finally("nothing is wrong") { try onlooker.check() }
                body(sim, onlooker)
            }.failure
    }
    #expect(failure.value == nil, sourceLocation: sourceLocation)
}

/// Observes the threads of a simulation without ordering them, and reports faults at the end.
package final class Onlooker: Sendable {
    private struct Wrong: Error { let what: String }
    private struct State {
        var fault: String?
        var occupants = 0
        package var log: [String] = []
    }

    private let sim: SimulatedWorld
    // Behind a lock that is no scheduling point, so that it adds no order to the program.
    private let state = Box(State())

    package init(_ sim: SimulatedWorld) { self.sim = sim }

    package func expect(_ condition: Bool, _ wrong: @autoclosure () -> String) {
        if condition { return }
        // Outside the lock: the closure may read the log.
        let wrong = wrong()
        state.withValue { $0.fault = $0.fault ?? wrong }
    }

    package func check() throws -> Bool {
        if let fault = state.value.fault { throw Wrong(what: fault) }
        return true
    }

    package func note(_ what: String) { state.withValue { $0.log.append(what) } }

    /// The notes, in order.
    package var log: [String] { state.value.log }

    package func count(_ what: String) -> Int { log.count { $0 == what } }

    /// The index of the first such note.
    package func firstIndex(of what: String) -> Int { log.firstIndex(of: what) ?? .max }

    /// A visit with scheduling points inside, during which at most `limit` threads may be inside.
    package func visit(atMost limit: Int = 1, _ what: String = "visit") {
        state.withValue { $0.occupants += 1 }
        for _ in 0..<2 {
            expect(
                state.value.occupants <= limit, "\(state.value.occupants) are inside at '\(what)'")
            sim.step()
        }
        state.withValue { $0.occupants -= 1 }
        note(what)
    }
}
