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
    private let sources: Guarded<Sources>

    private struct Sources {
        /// What stands in the lines of those that may still end.
        var members: [Member?] = []
        /// The sources that have ended with a value, where all of them are wanted, in order.
        var ended: [AsyncCell?]
    }

    /// Waits for the sources at once. `step` makes the value: of this cell's sources, or of the one that decided.
    @usableFromInline
    init(_ goal: Goal, of sources: [AsyncCell], _ step: @escaping Step) {
        self.goal = goal
        size = sources.count
        missing = Atomic(sources.count)
        self.sources = Guarded(
            Sources(ended: goal == .all ? Array(repeating: nil, count: sources.count) : []))
        super.init(step, tag: Self.holdsUntilEnd)
        let all = sources.enumerated().map { Member(of: self, in: $1, at: $0) }
        self.sources.withLock { $0.members = all }
        for (member, source) in Swift.zip(all, sources) {
            // Once it is decided, those that were to come are not waited for.
            guard isPending else { source.cancelIfUnwanted(); continue }
            source.join(member)
            if !isPending { source.leave(member) }
        }
    }

    /// The sources of a step's own cell, which is one of these, in order: all have a value. Nil if it has been cancelled.
    @usableFromInline
    static func sources(of cell: AsyncCell) -> [AsyncCell]? {
        let joint = unsafe unsafeDowncast(cell, to: Joint.self)
        let ended = joint.sources.withLock { $0.ended }.compactMap { $0 }
        return ended.count == joint.size ? ended : nil
    }

    private func count(_ source: AsyncCell, _ index: Int) {
        let isWanted = unsafe goal == .all && !source.isFailure
        // Not the last reference to the member: the teller has one.
        sources.withLock { sources in
            guard !sources.members.isEmpty else { return }
            sources.members[index] = nil
            if isWanted { sources.ended[index] = source }
        }
        // Acquiring and releasing: who decides sees the outcomes of all that have ended before.
        Seam.point()
        let isLast = missing.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
        let decides =
            switch goal {
            case .all: unsafe source.isFailure || isLast && hasAllValues
            case .first: true
            case .firstSuccess: unsafe !source.isFailure || isLast
            }
        guard decides, decide() else { return }
        guard goal == .all, let error = source.error else { return takeStep(source) }
        freeStep()
        end(throwing: error)
    }

    /// Whether no source has failed. One that has may not have decided yet when the last one ends, and must.
    private var hasAllValues: Bool { sources.withLock { $0.ended.allSatisfy { $0 != nil } } }

    /// Whether the caller is the one who takes the step, or frees it.
    private func decide() -> Bool {
        Seam.point()
        return !isDecided.exchange(true, ordering: .acquiringAndReleasing)
    }

    override func didEnd() {
        let sources = sources.withLock { sources in
            var taken = Sources(ended: [])
            swap(&sources, &taken)
            return taken
        }
        // Relaxed: where all have ended there is nothing to leave, and else leaving does no harm.
        if missing.load(ordering: .relaxed) > 0 {
            for case let member? in sources.members { member.source?.leave(member) }
        }
        if decide() { freeStep() }
    }

    /// One that is being freed tells nobody: it and this must not keep each other.
    private func forget(_ index: Int) {
        // Not the last reference: the line of the source keeps its parties until it is freed.
        sources.withLock { if !$0.members.isEmpty { $0.members[index] = nil } }
    }

    /// Those of which it can do without each are not looked at.
    override var needs: [Need] {
        guard goal == .all else { return [] }
        return sources.withLock { $0.members }.compactMap { member in
            member.flatMap { member in member.source.map { Need(party: member, source: $0) } }
        }
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
        // Unchecked: nothing of it changes but the weak reference, by the runtime.
        let joint: Joint
        /// Not counted, since that counts this one.
        private(set) weak var source: AsyncCell?
        private let index: Int

        init(of joint: Joint, in source: AsyncCell, at index: Int) {
            self.joint = joint
            self.source = source
            self.index = index
            super.init()
        }

        override func tell(by cell: AsyncCell) { joint.count(cell, index) }

        override func sourceIsGone(_ source: UnsafeRawPointer) { joint.forget(index) }

        override var label: String { joint.label }
    }
}
