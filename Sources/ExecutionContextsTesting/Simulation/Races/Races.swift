/// Which steps of a schedule could have come in another order.
struct Races {
    private let steps: [OrderLog.Step]
    /// For each step, the last step of each thread that had to precede it, or the step itself.
    private var clocks: [[Int]] = []
    /// For each step, the same without the steps that it conflicts with.
    private var starts: [[Int]] = []
    /// For each step, the conflicting steps that nothing else orders before it.
    private var rivals: [[Int]] = []
    /// For each step, all conflicting steps.
    private var conflicts: [[Int]] = []
    private let refusals: [OrderLog.Refusal]

    /// What earlier steps have done to an object.
    fileprivate struct Uses {
        var write: Int?
        var acquisition: Int?
        /// Since that acquisition, or before it if there were none since.
        var releases: [Int] = []
        var isTaken = false
        /// Since the last write, by thread.
        var reads: [Int: Int] = [:]
    }

    init(_ log: OrderLog) {
        steps = log.steps
        refusals = log.refusals
        var uses: [SharedObject: Uses] = [:]
        let none = [Int](repeating: -1, count: 1 + steps.reduce(0) { max($0, $1.thread) })
        var last = none
        var lastOfAll: Int?
        var afterBarrier: (step: Int, clock: [Int]) = (-1, last)
        for (index, step) in steps.enumerated() {
            var clock =
                last[step.thread] < 0 ? none : clocks[last[step.thread]]
            for cause in step.causes { Self.join(&clock, clocks[cause]) }
            if step.barrier > afterBarrier.step {
                for earlier in clocks[...step.barrier] { Self.join(&afterBarrier.clock, earlier) }
                afterBarrier.step = step.barrier
            }
            if step.barrier >= 0 { Self.join(&clock, afterBarrier.clock) }
            var (conflicts, follows, takings): (Set<Int>, [Int], Set<Int>) = ([], [], [])
            for access in step.accesses {
                let use = uses[access.object, default: Uses()]
                if access.kind == .acquires, let taking = use.acquisition {
                    takings.insert(taking)
                }
                let (earlier, released) = uses[access.object, default: use]
                    .add(access.kind, index, step.thread)
                conflicts.formUnion(earlier)
                follows += released
            }
            if let lastOfAll { conflicts.insert(lastOfAll) }
            if step.usesAll {
                conflicts.formUnion(last.filter { $0 >= 0 })
                lastOfAll = index
            }
            conflicts.remove(index)
            let racing = conflicts.filter { clock[steps[$0].thread] < $0 }
            // If the step can precede a later rival, that rival's race suffices. It cannot precede
            // the end of a lock's use.
            rivals.append(
                racing.filter { one in
                    takings.contains(one)
                        || !racing.contains { $0 != one && clocks[$0][steps[one].thread] >= one }
                }.sorted())
            starts.append(clock)
            self.conflicts.append(conflicts.sorted())
            for earlier in conflicts { Self.join(&clock, clocks[earlier]) }
            for earlier in follows where earlier != index { Self.join(&clock, clocks[earlier]) }
            clock[step.thread] = index
            clocks.append(clock)
            last[step.thread] = index
        }
    }

    private static func join(_ clock: inout [Int], _ other: [Int]) {
        for thread in clock.indices where other[thread] > clock[thread] {
            clock[thread] = other[thread]
        }
    }

    /// Calls `body` for each two conflicting steps, with whether they race: nothing else orders
    /// them.
    func forEachPair(
        _ body: (_ earlier: OrderLog.Step, _ later: OrderLog.Step, _ isRace: Bool) -> Void
    ) {
        for later in steps.indices {
            for earlier in conflicts[later] where steps[earlier].thread != steps[later].thread {
                body(steps[earlier], steps[later], rivals[later].contains(earlier))
            }
        }
    }

    /// Calls `body` for each race of a new step, with the index of the earlier step's choice, and
    /// the threads of which one must run there.
    func forEach(from firstNew: Int, _ body: (_ choice: Int, _ threads: UInt64) -> Void) {
        for later in steps.indices.dropFirst(firstNew) {
            for earlier in rivals[later] {
                guard let choice = steps[earlier].choice else { continue }
                // What it knew before the step that it is to overtake, not counting the release of
                // a lock.
                var start = starts[later]
                for step in conflicts[later]
                where step > earlier && clocks[step][steps[earlier].thread] < earlier {
                    Self.join(&start, clocks[step])
                }
                body(
                    choice,
                    beginnings(of: steps[later].thread, at: later, start, without: earlier))
            }
        }
        for refusal in refusals where refusal.place >= firstNew {
            guard let earlier = taking(before: refusal), let choice = steps[earlier].choice else {
                continue
            }
            let own = steps[..<refusal.place].lastIndex { $0.thread == refusal.thread }
            let start = own.map { clocks[$0] } ?? clocks[earlier].map { _ in -1 }
            if start[steps[earlier].thread] >= earlier { continue }
            body(
                choice, beginnings(of: refusal.thread, at: refusal.place, start, without: earlier))
        }
    }

    /// The step that took the lock that the thread found taken.
    private func taking(before refusal: OrderLog.Refusal) -> Int? {
        let taking = Access(object: refusal.lock, kind: .acquires)
        return steps[..<refusal.place].lastIndex { $0.accesses.contains(taking) }
    }

    /// The threads that can begin the steps that lead to the step of `thread` at a place, and that
    /// do not follow `earlier`.
    private func beginnings(
        of thread: Int, at place: Int, _ start: [Int], without earlier: Int
    ) -> UInt64 {
        var (threads, begun): (UInt64, [Int]) = (0, start.map { _ in Int.max })
        func add(_ step: Int, of own: Int, _ clock: [Int]) {
            guard begun[own] == .max else { return }
            if !begun.indices.contains(where: { clock[$0] >= begun[$0] }) {
                threads |= 1 << UInt64(own)
            }
            begun[own] = step
        }
        for step in earlier + 1..<place where clocks[step][steps[earlier].thread] < earlier {
            add(step, of: steps[step].thread, clocks[step])
        }
        add(place, of: thread, start)
        return threads
    }

    /// Equal for two schedules whose orders no thread could distinguish.
    var fingerprint: UInt64 {
        var places = Chooser.zeros
        var place = [Int](repeating: 0, count: steps.count)
        for (index, step) in steps.enumerated() {
            place[index] = places[step.thread]
            places[step.thread] += 1
        }
        var sums = Chooser.zeros.map { _ in Fingerprint() }
        for (index, step) in steps.enumerated() {
            for (thread, last) in clocks[index].enumerated()
            where last >= 0 && thread != step.thread {
                sums[step.thread].add(thread)
                sums[step.thread].add(place[last])
            }
            sums[step.thread].add(-Int(truncatingIfNeeded: step.chances))
        }
        var all = Fingerprint()
        for sum in sums { all.add(Int(truncatingIfNeeded: sum.value)) }
        return all.value
    }
}

extension Races.Uses {
    /// Adds a use; returns the earlier ones that conflict with it, and those that enabled it.
    fileprivate mutating func add(_ kind: Access.Kind, _ step: Int, _ thread: Int)
        -> (conflicts: [Int], follows: [Int])
    {
        switch kind {
        case .reads:
            reads[thread] = step
            return ([write].compactMap(\.self), [])
        case .writes:
            let earlier = [write, acquisition].compactMap(\.self) + releases + reads.values
            (write, reads) = (step, [:])
            return (earlier, [])
        case .acquires:
            defer { (acquisition, isTaken) = (step, true) }
            return ([write, acquisition].compactMap(\.self), releases)
        case .releases:
            if isTaken { (releases, isTaken) = ([], false) }
            releases.append(step)
            return ([write].compactMap(\.self), [])
        }
    }
}
