/// Why nobody can go on, or that all is well.
struct Diagnosis {
    private let stage: Stage

    init(_ stage: Stage) { self.stage = stage }

    var finding: Finding? {
        let stuck = stage.lanes.filter { !$0.isDone }
        guard stuck.isEmpty else {
            let waits = stuck.map(wait).joined(separator: "; ")
            if let circle = stuck.lazy.compactMap(circle).first {
                let names = circle.map { "'\($0.name)'" }.joined(separator: ", ")
                return Finding(kind: .deadlock, sentence: "\(names) wait for each other for ever: \(waits).")
            }
            return Finding(
                kind: .lostWakeUp,
                sentence: "\(waits); and nobody is left who could wake \(stuck.count == 1 ? "it" : "them").")
        }
        if let line = stage.lines.first(where: \.hasJobs) {
            return Finding(
                kind: .leftover, sentence: "Work is left on '\(line.name)' that nothing will ever start.")
        }
        if let delay = stage.clock.first {
            return Finding(
                kind: .leftover,
                sentence:
                    "\(delay) is still set when time has reached its horizon. Cancel what is not wanted any more, or "
                    + "raise 'horizon'.")
        }
        if !stage.tasks.isEmpty {
            let names = stage.tasks.map { "'\($0)'" }.joined(separator: ", ")
            return Finding(
                kind: .lostWakeUp,
                sentence:
                    "The task \(names) has not ended, and nobody is left who could resume it. It waits for what "
                    + "nobody resumes, or for what the simulation does not control: a Task { } of its own, an actor with "
                    + "its own executor, a sleep of Task (law 33).")
        }
        return nil
    }

    private func wait(of lane: Lane) -> String {
        switch lane.wait {
        case .nothing: return "'\(lane.name)' waits to be woken"
        case .context(let line):
            let holder = holders(of: lane).map { ", on which '\($0.name)' is busy" }.joined()
            return "'\(lane.name)' waits for its turn on '\(line.name)'\(holder)"
        case .lock(let word):
            let name = stage.names.name(of: word) ?? "a lock"
            guard let holder = holders(of: lane).first else {
                return "'\(lane.name)' waits for '\(name)', which is free"
            }
            return "'\(lane.name)' waits for '\(name)', which '\(holder.name)' holds"
        case .coordinator(let word, let writer, let carrier):
            return "'\(lane.name)' waits for '\(stage.names.name(of: word) ?? "a coordinator")', "
                + inside(word, writer, carrier)
        }
    }

    /// Who is inside a coordinator, or what its writes wait for.
    private func inside(_ word: Word, _ writer: Word, _ carrier: String) -> String {
        let readers = readers(of: word)
        if let holder = self.writer(writer) { return "in which '\(holder.name)' writes" }
        guard readers.isEmpty else {
            let names = readers.map { "'\($0.name)'" }
            return names.count == 1
                ? "which \(names[0]) reads"
                : "which \(names.dropLast().joined(separator: ", ")) and \(names.last!) read"
        }
        return "in which nobody is: writes before it wait for their turn on '\(carrier)'"
    }

    private func writer(_ word: Word) -> Lane? {
        let holder = word.holder
        return stage.lanes.first { $0.thread.identifier == holder && holder != 0 && !$0.isDone }
    }

    private func readers(of word: Word) -> [Lane] {
        stage.lanes.filter { !$0.isDone && word.isRead(by: $0.thread.identifier) }
    }

    /// Who would have to go on, for this one to go on.
    private func holders(of lane: Lane) -> [Lane] {
        switch lane.wait {
        case .nothing: return []
        case .context(let line): return stage.lanes.filter { $0.line === line && !$0.isDone }
        case .lock(let word):
            let holder = word.holder
            return stage.lanes.filter { $0.thread.identifier == holder && holder != 0 }
        case .coordinator(let word, let writer, let carrier):
            if let holder = self.writer(writer) { return [holder] }
            let readers = readers(of: word)
            return readers.isEmpty
                ? stage.lanes.filter { $0.line?.name == carrier && !$0.isDone } : readers
        }
    }

    /// Those who wait for each other, beginning with a lane that is one of them.
    private func circle(from lane: Lane) -> [Lane]? {
        var way = [lane]
        func search(_ next: Lane) -> Bool {
            for holder in holders(of: next) {
                if holder === lane { return true }
                if way.contains(where: { $0 === holder }) { continue }
                way.append(holder)
                if search(holder) { return true }
                way.removeLast()
            }
            return false
        }
        return search(lane) ? way : nil
    }
}
