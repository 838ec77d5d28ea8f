/// A cell that starts work for one element after the other, some at a time, and collects what comes of it.
final class Traversal: Timed, @unchecked Sendable {
    // Unchecked: the progress is guarded.
    private let progress = Guarded(Progress())
    private let limit: Int

    private struct Progress {
        /// What has been started and has ended with a value, in order.
        var ended: [AsyncCell?] = []
        /// What stands in the lines of those that are under way, by their place in that order.
        var members: [Int: Member] = [:]
        /// How many are under way.
        var underWay = 0
        var isExhausted = false
        /// Whether somebody is starting work; then nobody else does.
        var isStarting = false
        /// Whether the values have been asked for.
        var isCollected = false
    }

    init(atMost limit: Int, on home: Hop?) {
        self.limit = limit
        super.init("traverse", on: home)
    }

    override var needs: [Need] {
        progress.withLock { Array($0.members.values) }.compactMap { member in
            member.source.map { Need(party: member, source: $0) }
        }
    }

    /// Starts work until enough is under way or there are no more elements, and ends it when all has been done.
    ///
    /// `next` starts it for the next element, or returns nil; it is called by one thread at a time. `again` calls this once
    /// more, from where the user's code is to run.
    func start(_ next: () throws -> AsyncCell?, again: @escaping Work) {
        while isPending, mayStart() {
            do {
                guard let source = try next() else { exhaust(); continue }
                let member = progress.withLock { progress in
                    let member = Member(of: self, in: source, at: progress.ended.count, again)
                    progress.ended.append(nil)
                    progress.members[member.index] = member
                    progress.underWay += 1
                    progress.isStarting = false
                    return member
                }
                source.join(member)
                if !isPending {
                    // It ended while the work was being started, and forgot what there was before.
                    _ = forget()
                    source.leave(member)
                }
            } catch {
                end(throwing: error)
            }
        }
        // Told as its own source: what has been collected is all that the step needs.
        if mayCollect() { takeStep(self) }
    }

    /// The cells that have the values, in order.
    var collected: [AsyncCell] { progress.withLock { $0.ended }.compactMap { $0 } }

    private func mayStart() -> Bool {
        progress.withLock { progress in
            guard !progress.isStarting, !progress.isExhausted, progress.underWay < limit else {
                return false
            }
            progress.isStarting = true
            return true
        }
    }

    private func exhaust() {
        progress.withLock { progress in
            progress.isExhausted = true
            progress.isStarting = false
        }
    }

    private func mayCollect() -> Bool {
        progress.withLock { progress in
            guard progress.isExhausted, progress.underWay == 0, !progress.isCollected else { return false }
            progress.isCollected = true
            return true
        }
    }

    private func hear(_ member: Member, of source: AsyncCell) {
        let isFailure = unsafe source.isFailure
        // Nothing of a user's is freed in here: the teller has the member, and the member's closure with it.
        progress.withLock { progress in
            guard progress.members.removeValue(forKey: member.index) != nil else { return }
            progress.underWay -= 1
            if !isFailure { progress.ended[member.index] = source }
        }
        if let error = source.error { end(throwing: error) } else { member.again() }
    }

    /// One that is being freed tells nobody, and stays under way: it and this must not keep each other.
    private func forget(_ index: Int) {
        // Not the last reference: the line of the source keeps its parties until it is freed.
        progress.withLock { _ = $0.members.removeValue(forKey: index) }
    }

    override func didEnd() {
        let before = forget()
        // Else it has been taken.
        if !before.isCollected { freeStep() }
        for member in before.members.values { member.source?.leave(member) }
        super.didEnd()
    }

    private func forget() -> Progress {
        progress.withLock { progress in
            let before = progress
            progress = Progress(isExhausted: true, isCollected: true)
            return before
        }
    }

    /// What stands in the line of one piece of work.
    private final class Member: Party, @unchecked Sendable {
        // Unchecked: nothing of it changes but the weak reference, by the runtime.
        let traversal: Traversal
        /// Not counted, since that counts this one.
        private(set) weak var source: AsyncCell?
        let index: Int
        let again: Work

        init(of traversal: Traversal, in source: AsyncCell, at index: Int, _ again: @escaping Work) {
            self.traversal = traversal
            self.source = source
            self.index = index
            self.again = again
            super.init()
        }

        override func tell(by cell: AsyncCell) { traversal.hear(self, of: cell) }

        override func sourceIsGone(_ source: UnsafeRawPointer) { traversal.forget(index) }

        override var label: String { traversal.label }
    }
}
