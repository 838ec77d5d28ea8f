internal import ExecutionContexts
internal import Foundation

// The conditions, and the checks at the point where no thread can run.
extension SimulationScheduler {
    /// A condition that must hold.
    struct Condition {
        private let name: String
        private let fileID: StaticString
        private let line: UInt
        let holds: () throws -> Bool

        init(
            _ name: String, _ fileID: StaticString, _ line: UInt,
            _ holds: @escaping () throws -> Bool
        ) {
            (self.name, self.fileID, self.line, self.holds) = (name, fileID, line, holds)
        }

        /// The name, with the line of its declaration: "'not below zero' (BankTests.swift:14)".
        var title: String {
            "'\(name)' (\("\(fileID)".split(separator: "/").last ?? ""):\(line))"
        }
    }

    func checkConditions() {
        for condition in conditions { check(condition) }
    }

    private func check(_ condition: Condition) {
        let before = phase
        phase = .checking
        do {
            let holds = try condition.holds()
            if !holds {
                // Checks again, to record the values that it reads.
                values = []
                _ = try? condition.holds()
            }
            phase = before
            if !holds { fail(.invariant, "\(condition.title) does not hold\(takeValues()).") }
        } catch {
            phase = before
            fail(.threw, "\(condition.title) threw \(error).")
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
        guard phase == .running, failure == nil, !(lastConditions.isEmpty && conditions.isEmpty)
        else { return nil }
        let last = lastConditions
        lastConditions = []
        let before = threads
        log?.isOpen = false
        let checks = add("the checks at the end") { [self] in
            for thread in before { thread.edge.acquire() }
            memory?.synchronizeAll()
            hosts.order?.acquireAll()
            for condition in last { checkLast(condition) }
            // Objects that only the conditions reference are freed here, in the simulation: after
            // the change, since their deinits reach scheduling points.
            withExtendedLifetime(conditions) { conditions = [] }
        }
        return checks
    }

    private func checkLast(_ condition: Condition) {
        var wrong: (SimulationFailure.Kind, String)?
        values = []
        do {
            if try !condition.holds() {
                wrong = (
                    .invariant, "\(condition.title) does not hold at the end\(takeValues())."
                )
            }
        } catch let error as HistoryFailure {
            // An inconclusive check is not a fault of the program.
            wrong = (error.kind == .notLinearizable ? .history : .misuse, error.description)
        } catch {
            wrong = (.threw, "\(condition.title) threw \(error) at the end.")
        }
        HiddenFromSanitizer.begin()
        values = nil
        if let wrong { fail(wrong.0, wrong.1) }
        HiddenFromSanitizer.end()
    }

    /// The tracked values that a condition last read, each once, as text.
    private func takeValues() -> String {
        var texts: [String] = []
        for value in values ?? [] {
            if let text = value(), !texts.contains(text) { texts.append(text) }
        }
        values = nil
        let shown = texts.prefix(6).joined(separator: ", ")
        return shown.isEmpty ? "" : ": " + shown + (texts.count > 6 ? ", and more" : "")
    }
}

// Traps, which end the process.
extension SimulationScheduler {
    /// Prints the schedule, on the thread that traps.
    func reportTrap(_ thread: SimulatedThread) {
        var lines = [
            "Simulation '\(settings.name)' trapped: '\(thread.name)' ends the process (law 33)."
        ]
        if let trace { lines += trace.story.text(hasLocations: false).map { "  " + $0 } }
        if settings.isSearch {
            let token = Token(schedule: Schedule(switches: switches), path: nil)
                .text(for: settings.identity)
            lines.append(
                "Replay it with EXECUTION_CONTEXTS_REPLAY=\(token), or with replay: \"\(token)\".")
        }
        try? FileHandle.standardError.write(
            contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    }
}

// The end.
extension SimulationScheduler {
    /// Frees the jobs that have not started, and breaks the reference cycles between the scheduler
    /// and its objects.
    func close() {
        phase = .over
        hosts.expected = (decisions.count, switches.count)
        giveBackLocks()
        for thread in threads where thread.isDone || thread.host == nil {
            thread.body = nil
        }
        (conditions, lastConditions) = ([], [])
        clock.close()
        tasks.close()
        if failure != nil { counters.giveBack() }
        for queue in queues { queue.close() }
        dispatchQueues?.close()
        dispatchQueues = nil
        counters.close()
    }
}
