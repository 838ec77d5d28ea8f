/// Runs each order of a program's operations that can make a difference, and each of them once.
///
/// Two steps whose order no thread could observe are tried in one order only:
///
/// 1. A schedule runs to its end; at a choice the running thread continues.
/// 2. Of two steps that conflict, and that nothing else orders, the later one's thread, or one that
///    leads to it, must also run at the choice of the earlier one (`Races`).
/// 3. The last choice with a thread that must still run is repeated with that thread.
/// 4. A thread that has run at a choice sleeps in the schedules that follow, until a step conflicts
///    with its own: until then they would repeat what it has shown.
final class OrderChooser: LoggingChooser {
    /// A choice of the schedule that runs.
    private struct Choice {
        let candidates: UInt64
        /// The threads that were asleep before.
        let sleepers: [Sleeper]
        /// How many objects of unknown origin were known.
        let foundCount: Int
        /// The thread that runs; for a chance, `yes` or `no`.
        var chosen: Int
        var step: Int
        var isChance = false
        /// The threads that must run here.
        var wanted: UInt64
        /// Those that have run, with what they did.
        var done: [Sleeper] = []

        /// What was tried, or need not be. Only threads sleep, so a chance has no sleepers.
        var known: UInt64 {
            ((isChance ? [] : sleepers) + done).reduce(0) { $0 | 1 << UInt64($1.thread) }
        }
    }

    /// A thread whose next step has been tried.
    private struct Sleeper {
        let thread: Int
        let accesses: [Access]
        let usesAll: Bool
        /// How many objects of unknown origin were known before that step.
        let foundCount: Int

        /// Whether a step of another thread conflicts with the tried step's objects.
        func conflicts(with step: OrderLog.Step) -> Bool {
            if usesAll || step.usesAll { return true }
            return accesses.contains { mine in
                step.accesses.contains { other in
                    if mine.conflicts(with: other) { return true }
                    // Objects that were found later may have other numbers in this schedule.
                    guard let one = mine.object.foundAt, let two = other.object.foundAt else {
                        return false
                    }
                    return one >= foundCount && two >= foundCount
                }
            }
        }
    }

    private var choices: [Choice] = []
    /// How many choices the schedule that runs has made.
    private var depth = 0
    private var sleepers: [Sleeper] = []
    /// Whether the schedule only repeats another one from here on.
    private var repeats = false
    /// Whether the program has invariants, and how many tracked values they have read.
    private var isChecked = false
    private var checkedCount = 0
    /// Whether the program has tasks.
    private var hasTasks = false
    /// The first step at which the schedule differs from earlier ones.
    private var firstNew = 0
    private var seen: Set<UInt64> = []

    /// How many distinct orders have run.
    var orderCount: Int { seen.count }
    /// Whether a schedule did not begin like the one whose prefix it was to repeat.
    private(set) var isLost = false

    override func begin() {
        super.begin()
        (depth, sleepers, repeats) = (0, [], false)
    }

    override func choose(
        _ candidates: UInt64, blocked: UInt64, isChecked: Bool, usual: Int
    ) -> Int {
        self.isChecked = isChecked
        endStep()
        let free = candidates & ~blocked
        guard !repeats else { return begin(usual, nil) }
        if log.steps.isEmpty { log.isOpen = true }
        let awake = free & ~sleepers.reduce(0) { $0 | 1 << UInt64($1.thread) }
        if free & (free - 1) == 0 {
            if awake == 0 { endEarly() }
            return begin(free.trailingZeroBitCount, nil)
        }
        if depth < choices.count { return repeatChoice(free) }
        guard awake != 0 else {
            endEarly()
            return begin(usual, nil)
        }
        let thread = awake & 1 << UInt64(usual) != 0 ? usual : awake.trailingZeroBitCount
        choices.append(
            Choice(
                candidates: free, sleepers: sleepers, foundCount: log.foundCount, chosen: thread,
                step: log.steps.count, wanted: 1 << UInt64(thread)))
        depth += 1
        return begin(thread, depth - 1)
    }

    /// The answers to a chance, stored in place of threads.
    private static let (no, yes) = (0, 1)

    /// Whether something happens that usually does not: both answers are tried.
    override func chance(_ situation: Situation) -> Bool {
        guard !repeats else { return false }
        let step = log.steps.count - 1
        if depth == choices.count {
            choices.append(
                Choice(
                    candidates: 0b11, sleepers: sleepers, foundCount: log.foundCount,
                    chosen: Self.no, step: step, isChance: true, wanted: 0b11))
        } else if !choices[depth].isChance || choices[depth].step != step {
            (isLost, repeats) = (true, true)
            return false
        } else {
            sleepers = choices[depth].sleepers
        }
        depth += 1
        let happens = choices[depth - 1].chosen == Self.yes
        log.addChance(happens)
        return happens
    }

    private func repeatChoice(_ free: UInt64) -> Int {
        let choice = choices[depth]
        if choice.candidates != free || choice.step != log.steps.count || choice.isChance {
            (isLost, repeats) = (true, true)
            return begin(free.trailingZeroBitCount, nil)
        }
        sleepers = choice.sleepers + choice.done
        depth += 1
        return begin(choice.chosen, depth - 1)
    }

    private func begin(_ thread: Int, _ choice: Int?) -> Int {
        // A repetition of another schedule shows no new order.
        if repeats { log.isOpen = false } else { log.begin(thread, choice: choice) }
        return thread
    }

    private func endEarly() { repeats = true }

    /// Wakes the threads whose steps the last one conflicts with.
    private func endStep() {
        if isChecked { log.noteCheck() }
        guard let step = log.steps.last, !sleepers.isEmpty else { return }
        sleepers.removeAll { $0.thread == step.thread || $0.conflicts(with: step) }
    }

    // MARK: Between schedules

    /// Ends a schedule, and prepares the next one; returns false if none is left.
    func advance() -> Bool {
        // The schedule ended before it reached all of the choices that it was to repeat.
        if depth < choices.count { isLost = true }
        if isLost { return false }
        endStep()
        if log.checked.count > checkedCount || log.hasTasks != hasTasks {
            // Some steps were assumed unobserved, but invariants read their values, or tasks could
            // see them: starts again with that knowledge.
            (choices, seen, firstNew, checkedCount) = ([], [], 0, log.checked.count)
            (hasTasks, isCut) = (log.hasTasks, false)
            return true
        }
        guard log.steps.count <= Self.mostSteps else {
            isCut = true
            return advance(after: nil)
        }
        let races = Races(log)
        if !repeats { seen.insert(races.fingerprint) }
        count(races)
        return advance(after: races)
    }

    /// How many steps a schedule may have for all its orders to be tried.
    private static let mostSteps = 4_000

    private func advance(after races: Races?) -> Bool {
        races?.forEach(from: firstNew) { choice, threads in want(threads, choice) }
        while var last = choices.popLast() {
            let step = last.isChance ? nil : log.steps[last.step]
            last.done.append(
                Sleeper(
                    thread: last.chosen, accesses: step?.accesses ?? [],
                    // With another answer to a chance, the step may use other objects.
                    usesAll: step.map { $0.usesAll || $0.chances != 1 } ?? false,
                    foundCount: last.foundCount))
            let next = last.wanted & ~last.known
            guard next != 0 else { continue }
            last.chosen = next.trailingZeroBitCount
            firstNew = max(last.step, 0)
            choices.append(last)
            return true
        }
        return false
    }

    /// One of these threads must run at the choice.
    private func want(_ threads: UInt64, _ place: Int) {
        let choice = choices[place]
        // A sleeping thread has run here before, with all that follows.
        if threads & (choice.wanted | choice.known) != 0 { return }
        let known = threads & choice.candidates
        // None of them can run there: any other thread may lead to one of them.
        choices[place].wanted |=
            known == 0 ? choice.candidates : 1 << UInt64(known.trailingZeroBitCount)
    }
}
