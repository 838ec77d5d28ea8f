internal import ExecutionContexts

/// What a thread does to an object when it continues from a scheduling point.
struct Intent {
    let kind: Access.Kind
    let word: Word
    /// Whether no lock guards the object: it is a variable of the program.
    let isPlain: Bool
    /// The source location, if the schedule is traced.
    let location: CallerLocation?

    init(
        _ kind: Access.Kind, _ word: Word, isPlain: Bool = false, location: CallerLocation? = nil
    ) {
        (self.kind, self.word, self.isPlain, self.location) = (kind, word, isPlain, location)
    }

    /// Whether the order of the two can make a difference.
    func conflicts(with other: Intent) -> Bool {
        word == other.word && (kind != .reads || other.kind != .reads)
    }
}

// Data races.
extension SimulationScheduler {
    /// Fails if another thread is about to use the variable that this one now uses.
    ///
    /// Both can continue, and nothing that either did before orders the two. So no lock, flag or
    /// actor has guarded the variable, whether the simulation sees it or not.
    func checkRace(_ thread: SimulatedThread, _ intent: Intent, _ name: String) {
        checkOrder(thread, intent, name)
        guard phase == .running,
            let other = threads.first(where: { other in
                other !== thread && other.intent?.isPlain == true
                    && other.intent?.conflicts(with: intent) == true
            }), let rival = other.intent
        else { return }
        fail(
            .dataRace,
            "'\(thread.name)' \(Self.verb(intent)) '\(name)' while '\(other.name)' \(Self.verb(rival)) it, and nothing puts the "
                + "two in order. Guard it with a lock, a serial context or an actor (law 33).",
            locations: [(thread.name, intent.location), (other.name, rival.location)])
    }

    /// Fails if an earlier access of the variable does not happen before this one.
    ///
    /// A program with atomics may hand over the variable in an order that they do not guarantee.
    private func checkOrder(_ thread: SimulatedThread, _ intent: Intent, _ name: String) {
        guard let memory, phase == .running, let earlier = memory.access(intent, by: thread.id)
        else { return }
        let other = threads[earlier.thread].name
        fail(
            .dataRace,
            "'\(thread.name)' \(Self.verb(intent)) '\(name)', which '\(other)' has \(earlier.kind == .reads ? "read" : "written"), and nothing "
                + "puts the two in order. Pass it on by a releasing store and an acquiring load, or guard it with a lock (law 33).",
            locations: [(thread.name, intent.location), (other, earlier.location)])
    }

    private static func verb(_ intent: Intent) -> String {
        intent.kind == .reads ? "reads" : "writes"
    }
}
