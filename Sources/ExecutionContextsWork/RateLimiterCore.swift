internal import ExecutionContexts
internal import Synchronization

/// What waits behind a limiter, and what it needs: kept alive by the turns and the alarm.
///
/// Work runs, and takes its token, in turns of the context. There is one for each submission, so that work which need not wait
/// has the place among the context's other work that its submission has; what has waited gets one more at a time.
final class RateLimiterCore: @unchecked Sendable {
    // Unchecked: `line` is reached inside `section` only.
    private let base: any SerialContext
    private let place: SourcePlace
    private let section: CriticalSection
    private var line: RateLimiterLine

    init(on base: some SerialContext, _ bucket: RateLimiterBucket, from place: SourcePlace) {
        self.base = base
        self.place = place
        section = CriticalSection(name: "rate limiter on \(base.name)")
        line = RateLimiterLine(bucket)
    }

    /// The work with what it needs of its submitter, since it may run in a turn of somebody else's.
    func bound(_ work: @escaping Work) -> Work {
        // Not `??`: a closure that goes through a generic function comes back in a thunk, with its allocation.
        guard let binding = base.binding else { return work }
        return binding(work)
    }

    var pendingCount: Int { section.execute { line.count } }

    func submit(_ piece: RateLimiterPiece) {
        section.execute { line.append(piece) }
        let turn = Turn(of: self, for: piece)
        if piece.isAwaited { return base.execute({ turn.run() }, refused: { turn.lose($0) }) }
        // It was accepted: where there is no room for it, it enters all the same.
        let base = base
        base.execute({ turn.run() }, refused: { _ in base.enqueue { turn.run() } })
    }

    func cancel(_ piece: RateLimiterPiece) {
        let now = base.time.now
        let (isOurs, step) = section.execute { (line.remove(piece), line.arrange(at: now, in: section)) }
        if isOurs { piece.drop(CancellationError()) }
        take(step)
    }

    /// Runs who is first, if there is a token; on the context.
    private func serve(_ change: (inout RateLimiterLine) -> Bool) {
        let now = base.time.now
        let (piece, isSettled) = section.execute { () -> (RateLimiterPiece?, Bool) in
            guard change(&line) else { return (nil, true) }
            return (line.begin(at: now), line.isSettled)
        }
        piece?.run()
        // Looked at again, since the work took its time and may have submitted.
        if !isSettled { arrange() }
    }

    private func arrange() {
        let now = base.time.now
        take(section.execute { line.arrange(at: now, in: section) })
    }

    private func take(_ step: RateLimiterLine.Step) {
        switch step {
        case .nothing: break
        case .takeTurn:
            let turn = Turn(of: self, for: nil)
            // Never on the spot: many that may begin would nest.
            base.enqueue { turn.run() }
        case .set(let alarm, let moment): set(alarm, at: moment, on: base)
        case .cancel(let alarm): alarm.cancel()
        }
    }

    private func set(_ alarm: Alarm, at moment: Moment, on base: some SerialContext) {
        alarm.set(
            at: moment, on: base, from: place, rang: { alarm in self.serve { $0.end(alarm) } },
            lost: { alarm in if self.section.execute({ self.line.end(alarm) }) { self.abandonAll() } })
    }

    /// The context has let go of what was to begin those who wait.
    private func abandonAll() {
        let pieces = section.execute { line.takeAll() }
        for piece in pieces { piece.drop(Refusal(.abandoned, by: base.name)) }
        arrange()
    }

    /// What the context holds: if it dies unused, the context has let go of it.
    private final class Turn: Sendable {
        private let core: RateLimiterCore
        /// Who came with it; nil if it is for those who have waited.
        private let piece: RateLimiterPiece?
        private let isSpent = Atomic<Bool>(false)

        init(of core: RateLimiterCore, for piece: RateLimiterPiece?) {
            self.core = core
            self.piece = piece
        }

        deinit { lose(Refusal(.abandoned, by: core.base.name)) }

        func run() {
            guard spend() else { return }
            core.serve {
                $0.endTurn()
                return true
            }
        }

        func lose(_ refusal: Refusal) {
            guard spend() else { return }
            guard let piece else {
                core.section.execute { core.line.endTurn() }
                return core.abandonAll()
            }
            let isOurs = core.section.execute {
                core.line.endTurn()
                return core.line.remove(piece)
            }
            if isOurs { piece.drop(refusal) }
            core.arrange()
        }

        // Relaxed: what the work needs to see it sees by the limiter's lock.
        private func spend() -> Bool { !isSpent.exchange(true, ordering: .relaxed) }
    }
}
