internal import Synchronization

/// A cell that waits for many others: for all of them, or for the first.
@usableFromInline
final class Joint: AsyncCell, @unchecked Sendable {
    // Unchecked: what changes is atomic or guarded.

    @usableFromInline
    enum Goal: UInt8 {
        /// Ends when all have a value, or with the first error.
        case all
        /// Ends like the first that ends.
        case first
        /// Ends with the first value, or with the last error.
        case firstSuccess
    }

    private let goal: Goal
    private let size: Int
    /// How many have not ended.
    private let missing: Atomic<Int>
    private let isDecided = Atomic<Bool>(false)
    private let members = Guarded<[Member]>([])

    /// Waits for the sources at once. `step` makes the value: of this cell's sources, or of the one that decided.
    @usableFromInline
    init(_ goal: Goal, of sources: [AsyncCell], _ step: @escaping Step) {
        self.goal = goal
        size = sources.count
        missing = Atomic(sources.count)
        super.init(step, tag: Self.holdsUntilEnd)
        let all = sources.map { Member(of: self, in: $0) }
        members.withLock { $0 = all }
        for member in all {
            // Once it is decided, those that were to come are not waited for.
            guard isPending else { member.source.cancelIfUnwanted(); continue }
            member.source.join(member)
            if !isPending { member.source.leave(member) }
        }
    }

    private func count(_ source: AsyncCell) {
        // Acquiring and releasing: who decides sees the outcomes of all that have ended before.
        Seam.point()
        let isLast = missing.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
        let decides =
            switch goal {
            case .all: unsafe source.isFailure || isLast
            case .first: true
            case .firstSuccess: unsafe !source.isFailure || isLast
            }
        guard decides, decide() else { return }
        guard goal == .all, let error = source.error else { return takeStep(source) }
        // The step holds all the sources, which are of no use any more.
        unsafe step = nil
        end(throwing: error)
    }

    /// Whether the caller is the one who takes the step, or frees it.
    private func decide() -> Bool {
        Seam.point()
        return !isDecided.exchange(true, ordering: .acquiringAndReleasing)
    }

    override func didEnd() {
        let members = members.withLock { members in
            defer { members = [] }
            return members
        }
        // Relaxed: where all have ended there is nothing to leave, and else leaving does no harm.
        if missing.load(ordering: .relaxed) > 0 {
            for member in members { member.source.leave(member) }
        }
        if decide() { unsafe step = nil }
    }

    /// Those of which it can do without each are not looked at.
    override var needs: [Need] {
        guard goal == .all else { return [] }
        return members.withLock { $0 }.map { Need(party: $0, source: $0.source) }
    }

    override var label: String {
        switch goal {
        case .all: "all of \(size)"
        case .first: "the first of \(size)"
        case .firstSuccess: "the first success of \(size)"
        }
    }

    /// What stands in the line of one source.
    private final class Member: Party, @unchecked Sendable {
        // Unchecked: nothing of it changes.
        let joint: Joint
        let source: AsyncCell

        init(of joint: Joint, in source: AsyncCell) {
            self.joint = joint
            self.source = source
        }

        override func tell(by cell: AsyncCell) { joint.count(cell) }

        override var label: String { joint.label }
    }
}
