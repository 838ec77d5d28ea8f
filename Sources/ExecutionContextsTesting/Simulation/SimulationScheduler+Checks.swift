internal import ExecutionContexts

// The conditions, and the checks at the point where no thread can run.
extension SimulationScheduler {
    func checkConditions() {
        for condition in conditions { check(condition, "does not hold") }
    }

    private func check(_ condition: Condition, _ wrong: String) {
        let before = phase
        phase = .checking
        do {
            let holds = try condition.holds()
            phase = before
            if !holds { fail(.invariant, "'\(condition.name)' \(wrong).") }
        } catch {
            phase = before
            fail(.threw, "'\(condition.name)' threw \(error).")
        }
    }

    /// Decides, when no thread can run, whether the schedule has ended or the final checks must
    /// run.
    func endOrContinue(after thread: SimulatedThread) -> SimulatedThread? {
        if phase == .unwinding || phase == .settingUp && failure != nil { return nil }
        if let stuck = Diagnosis(self).finding {
            fail(stuck.kind, stuck.message)
            return nil
        }
        guard phase == .running, failure == nil, !lastConditions.isEmpty else { return nil }
        let last = lastConditions
        lastConditions = []
        let before = threads
        let checks = add("the checks at the end") { [self] in
            for thread in before { thread.edge.acquire() }
            for condition in last { checkLast(condition) }
        }
        return checks
    }

    private func checkLast(_ condition: Condition) {
        var wrong: (SimulationFailure.Kind, String)?
        do {
            if try !condition.holds() {
                wrong = (.invariant, "'\(condition.name)' does not hold at the end.")
            }
        } catch let error as HistoryFailure {
            // An unknown result is not a fault of the program.
            wrong = (error.kind == .notLinearizable ? .history : .misuse, error.description)
        } catch {
            wrong = (.threw, "'\(condition.name)' threw \(error) at the end.")
        }
        HiddenFromSanitizer.begin()
        if let wrong { fail(wrong.0, wrong.1) }
        HiddenFromSanitizer.end()
    }
}
