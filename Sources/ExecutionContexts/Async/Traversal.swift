/// A cell that starts work for one element after the other, some at a time, and collects what comes of it.
final class Traversal: Timed, @unchecked Sendable {
    // Unchecked: the progress is guarded.
    private let progress = Guarded(Progress())
    private let limit: Int

    private struct Progress {
        /// What has been started, in order: the values, in the end.
        var sources: [AsyncCell] = []
        /// Who is told by those that are under way.
        var members: [ObjectIdentifier: Member] = [:]
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
        progress.withLock { $0.members.values.map { Need(party: $0, source: $0.source) } }
    }

    /// Starts work until enough is under way or there are no more elements, and ends it when all has been done.
    ///
    /// `next` starts it for the next element, or returns nil; it is called by one thread at a time. `again` calls this once
    /// more, from where the user's code is to run.
    func start(_ next: () throws -> AsyncCell?, again: @escaping Work) {
        while isPending, mayStart() {
            do {
                guard let source = try next() else { exhaust(); continue }
                let member = Member(of: self, in: source, again)
                progress.withLock { progress in
                    progress.sources.append(source)
                    progress.members[ObjectIdentifier(member)] = member
                    progress.isStarting = false
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
    var collected: [AsyncCell] { progress.withLock { $0.sources } }

    private func mayStart() -> Bool {
        progress.withLock { progress in
            guard !progress.isStarting, !progress.isExhausted, progress.members.count < limit else {
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
            guard progress.isExhausted, progress.members.isEmpty, !progress.isCollected else { return false }
            progress.isCollected = true
            return true
        }
    }

    private func hear(_ member: Member, of source: AsyncCell) {
        _ = progress.withLock { $0.members.removeValue(forKey: ObjectIdentifier(member)) }
        if let error = source.error { end(throwing: error) } else { member.again() }
    }

    override func didEnd() {
        let before = forget()
        // Else it has been taken.
        if !before.isCollected { unsafe step = nil }
        for member in before.members.values { member.source.leave(member) }
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
        // Unchecked: nothing of it changes.
        let traversal: Traversal
        let source: AsyncCell
        let again: Work

        init(of traversal: Traversal, in source: AsyncCell, _ again: @escaping Work) {
            self.traversal = traversal
            self.source = source
            self.again = again
        }

        override func tell(by cell: AsyncCell) { traversal.hear(self, of: cell) }

        override var label: String { traversal.label }
    }
}
