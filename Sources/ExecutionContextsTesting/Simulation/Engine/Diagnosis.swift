/// Explains why no thread can run, or finds that the schedule has ended normally.
struct Diagnosis {
    private let scheduler: SimulationScheduler

    init(_ scheduler: SimulationScheduler) { self.scheduler = scheduler }

    private var horizon: Duration { .nanoseconds(scheduler.settings.horizon) }

    var finding: Finding? {
        let stuck = scheduler.threads.filter { !$0.isDone }
        guard stuck.isEmpty else {
            let waits = stuck.map(wait).joined(separator: "; ")
            let counters: [SystemCounter] = stuck.compactMap { thread in
                if case .counter(let counter) = thread.wait { counter } else { nil }
            }
            if let queue = scheduler.queues.first(where: \.isFull) {
                return Finding(
                    kind: .misuse,
                    message:
                        "All \(queue.width) simulated threads of '\(queue.name)' wait, and more jobs are queued there. "
                        + "The system might add threads: let fewer jobs wait at a time. \(waits)."
                )
            }
            if let cycle = stuck.lazy.compactMap(cycle).first {
                let names = cycle.map { "'\($0.name)'" }.joined(separator: ", ")
                let wait = cycle.count == 1 ? "waits for itself" : "wait for each other"
                let others = stuck.filter { thread in !cycle.contains { $0 === thread } }
                let waits = (cycle + others).map(self.wait).joined(separator: "; ")
                return Finding(kind: .deadlock, message: "\(names) \(wait) for ever: \(waits).")
            }
            return Finding(
                kind: .lostWakeUp,
                message:
                    "\(waits); and no thread is left that could wake \(stuck.count == 1 ? "it" : "them")."
                    + (counters.isEmpty
                        ? ""
                        : " The simulation does not wait for signals from queues, timers and threads of the system (law 33).")
            )
        }
        if let queue = scheduler.queues.first(where: \.hasJobs) {
            return Finding(
                kind: .leftover,
                message: "Work is left on '\(queue.name)' that nothing will ever start.")
        }
        if let queue = scheduler.dispatchQueues?.left {
            return Finding(
                kind: .leftover,
                message:
                    "Work is left on '\(queue)' that nothing will ever start: it is suspended, or was not activated."
            )
        }
        if scheduler.dispatchQueues?.hasNotifications == true {
            return Finding(
                kind: .leftover,
                message:
                    "A job waits for a group that never becomes empty, or for a work item that never runs."
            )
        }
        if let delay = scheduler.clock.first {
            return Finding(
                kind: .leftover,
                message:
                    "\(delay) is still set when time has reached its horizon, \(horizon). Cancel what is not needed, or "
                    + "raise 'horizon'.")
        }
        guard let waits = scheduler.tasks.waits else { return nil }
        if scheduler.clock.nextDeadline != nil {
            return Finding(
                kind: .leftover,
                message:
                    "Time has reached its horizon, \(horizon), and a task still sleeps: \(waits.text). Cancel what is not needed, or "
                    + "raise 'horizon'.")
        }
        return Finding(
            kind: .lostWakeUp,
            message:
                "Nothing is left that could resume \(waits.count == 1 ? "a task" : "\(waits.count) tasks"): "
                + waits.text
                + ". Resume each continuation, finish each stream, and cancel unneeded tasks. The simulation does not "
                + "wait for outside threads that would resume a task (law 33).")
    }

    private func wait(of thread: SimulatedThread) -> String {
        switch thread.wait {
        case .nothing where isolation(of: thread) != nil:
            let owner = holders(of: thread).map { ", which '\($0.name)' holds" }.joined()
            return "'\(thread.name)' waits for the main actor\(owner)"
        case .nothing: return "'\(thread.name)' waits to be woken"
        case .context(let queue):
            let holder = holders(of: thread).map { ", on which '\($0.name)' is busy" }.joined()
            return "'\(thread.name)' waits in the queue of '\(queue.name)'\(holder)"
        case .lock(let word):
            let name = scheduler.names.name(of: word) ?? "a lock"
            guard let holder = holders(of: thread).first else {
                return "'\(thread.name)' waits for '\(name)', which is free"
            }
            return "'\(thread.name)' waits for '\(name)', which '\(holder.name)' holds"
        case .turn: return "'\(thread.name)' waits for others to run"
        case .change: return "'\(thread.name)' waits in a loop for an atomic to change"
        case .systemLock(let lock) where lock.isExpectation:
            return
                "'\(thread.name)' waits for an expectation of XCTest, or for a test's function to end"
        case .systemLock(let lock) where lock.isCondition:
            return
                "'\(thread.name)' waits for a condition of the system that nothing in the simulation signals. If a thread outside does, such as that of Process, replace it with a test double (law 33)"
        case .systemLock(let lock):
            let holder = holders(of: thread).map { ", which '\($0.name)' holds" }.joined()
            let name = scheduler.names.name(of: lock.word).map { "'\($0)'" }
            return "'\(thread.name)' waits for \(name ?? "a lock of the system")\(holder)"
        case .counter(let counter):
            let name = scheduler.name(of: counter)
            return "'\(thread.name)' waits for '\(name)', \(users(of: counter))"
        case .coordinator(let word, let writer, let writeContext):
            return
                "'\(thread.name)' waits for '\(scheduler.names.name(of: word) ?? "a coordinator")', "
                + inside(word, writer, writeContext)
        }
    }

    /// The threads that hold a semaphore or a group, and the last one that used it.
    private func users(of counter: SystemCounter) -> String {
        let state = scheduler.counters[counter]
        let holders = holders(of: state).map { "'\($0.name)'" }
        let last = state.last.map { "'\($0.text)'" }
        if state.name == Counters.item { return "which has not run" }
        if counter.isGroup {
            let entries = state.taken == 1 ? "once" : "\(state.taken) times"
            return "which was entered \(entries) more than left"
                + (last.map { ", last by \($0)" } ?? ", and which no thread has left")
        }
        if state.isLock, !holders.isEmpty { return "which \(holders.joined(separator: ", ")) has" }
        return last.map { "which \($0) signalled last" } ?? "which no thread has signalled"
    }

    /// The threads that hold a permit of a semaphore used as a lock.
    private func holders(of state: Counters.State) -> [SimulatedThread] {
        guard state.isLock else { return [] }
        return scheduler.threads.filter { thread in
            !thread.isDone && state.holders.contains(Counters.Holder(thread))
        }
    }

    /// The threads inside a coordinator, or where its writes wait.
    private func inside(_ word: Word, _ writer: Word, _ writeContext: String) -> String {
        let readers = readers(of: word)
        if let holder = self.writer(writer) { return "in which '\(holder.name)' writes" }
        guard readers.isEmpty else {
            let names = readers.map { "'\($0.name)'" }
            return names.count == 1
                ? "which \(names[0]) reads"
                : "which \(names.dropLast().joined(separator: ", ")) and \(names.last!) read"
        }
        return "in which no thread is: earlier writes wait in the queue of '\(writeContext)'"
    }

    private func writer(_ word: Word) -> SimulatedThread? {
        let holder = word.holder
        return scheduler.threads.first { $0.number == holder && holder != 0 && !$0.isDone }
    }

    private func readers(of word: Word) -> [SimulatedThread] {
        scheduler.threads.filter { !$0.isDone && $0.host != nil && word.isRead(by: $0.number) }
    }

    /// The threads that must continue before this one can.
    private func holders(of thread: SimulatedThread) -> [SimulatedThread] {
        switch thread.wait {
        case .nothing:
            return [isolation(of: thread).flatMap(scheduler.tasks.owner)].compactMap(\.self)
        case .context(let queue):
            return scheduler.threads.filter { other in
                !other.isDone
                    && (other.queue === queue || other.running.contains { $0.queue === queue })
            }
        case .lock(let word):
            let holder = word.holder
            return scheduler.threads.filter { $0.number == holder && holder != 0 }
        case .turn, .change: return []
        case .systemLock(let lock):
            return [scheduler.holder(of: lock, for: thread)].compactMap(\.self)
        case .counter(let counter):
            return holders(of: scheduler.counters[counter])
        case .coordinator(let word, let writer, let writeContext):
            if let holder = self.writer(writer) { return [holder] }
            let readers = readers(of: word)
            return readers.isEmpty
                ? scheduler.threads.filter { $0.queue?.name == writeContext && !$0.isDone }
                : readers
        }
    }

    /// The actor that a thread needs to begin its next job.
    private func isolation(of thread: SimulatedThread) -> UInt? {
        guard let isolation = thread.queue?.isolation, isolation != 0, thread.isolation == 0 else {
            return nil
        }
        return isolation
    }

    /// A cycle of threads that wait for each other, starting with `thread`; nil if it is in none.
    private func cycle(from thread: SimulatedThread) -> [SimulatedThread]? {
        var path = [thread]
        func search(_ next: SimulatedThread) -> Bool {
            for holder in holders(of: next) {
                if holder === thread { return true }
                if path.contains(where: { $0 === holder }) { continue }
                path.append(holder)
                if search(holder) { return true }
                path.removeLast()
            }
            return false
        }
        return search(thread) ? path : nil
    }
}
