internal import ExecutionContexts

// What must hold, and what is looked at when nobody can go on.
extension Stage {
    func checkConditions() {
        for condition in conditions { check(condition, "does not hold") }
    }

    private func check(_ condition: Condition, _ wrong: String) {
        let before = phase
        phase = .asking
        do {
            let holds = try condition.holds()
            phase = before
            if !holds { fail(.invariant, "'\(condition.name)' \(wrong).") }
        } catch {
            phase = before
            fail(.threw, "'\(condition.name)' threw \(error).")
        }
    }

    /// Nobody can go on. Is that the end, or are there checks to be made still?
    func endOrGoOn(after lane: Lane) -> Lane? {
        if phase == .draining || phase == .settingUp && failure != nil { return nil }
        if let stuck = Diagnosis(self).finding {
            fail(stuck.kind, stuck.sentence)
            return nil
        }
        guard phase == .playing, failure == nil, !lastConditions.isEmpty else { return nil }
        let last = lastConditions
        lastConditions = []
        let before = lanes
        let checks = add("the checks at the end") { [self] in
            for lane in before { lane.edge.follow() }
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
            // Not to have found out is no fault of the program.
            wrong = (error.kind == .notLinearizable ? .history : .misuse, error.description)
        } catch {
            wrong = (.threw, "'\(condition.name)' threw \(error) at the end.")
        }
        Unseen.begin()
        if let wrong { fail(wrong.0, wrong.1) }
        Unseen.end()
    }
}
