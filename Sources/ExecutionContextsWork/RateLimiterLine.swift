internal import ExecutionContexts

/// One piece of work that waits for a token.
final class RateLimiterPiece: @unchecked Sendable {
    // Unchecked: the links and the mark are reached inside the limiter's section; `work` and `dropped` belong to whoever
    // took the piece out of the line there.
    fileprivate(set) var next: RateLimiterPiece?
    fileprivate(set) var previous: RateLimiterPiece?
    fileprivate(set) var isWaiting = false
    private var work: Work?
    private var dropped: (@Sendable (any Error) -> Void)?
    /// Whether somebody is told if it never begins.
    let isAwaited: Bool

    init(_ work: @escaping Work, dropped: (@Sendable (any Error) -> Void)?) {
        self.work = work
        self.dropped = dropped
        isAwaited = dropped != nil
    }

    func run() {
        dropped = nil
        work.take()?()
    }

    /// It never begins: what it captured goes, then somebody is told.
    func drop(_ error: any Error) {
        work = nil
        dropped.take()?(error)
    }
}

/// Who waits, in order, and who will see to them: the state of a limiter, for under its lock.
struct RateLimiterLine {
    private var first: RateLimiterPiece?
    private var last: RateLimiterPiece?
    private(set) var count = 0
    private var bucket: RateLimiterBucket
    /// How many turns the context has been given that have not come.
    private var turns = 0
    private var alarm: Alarm?

    init(_ bucket: RateLimiterBucket) { self.bucket = bucket }

    /// What is to be done after unlocking.
    enum Step {
        case nothing
        /// Somebody could begin now, and no turn is on its way.
        case takeTurn
        case set(Alarm, Moment)
        /// Nobody waits any more.
        case cancel(Alarm)
    }

    /// Puts a piece at the end; its submitter gives the context a turn.
    mutating func append(_ piece: RateLimiterPiece) {
        piece.previous = last
        if let last { last.next = piece } else { first = piece }
        last = piece
        piece.isWaiting = true
        count += 1
        turns += 1
    }

    /// Takes a piece out, wherever it stands; false if it is not there any more.
    mutating func remove(_ piece: RateLimiterPiece) -> Bool {
        guard piece.isWaiting else { return false }
        if let previous = piece.previous { previous.next = piece.next } else { first = piece.next }
        if let next = piece.next { next.previous = piece.previous } else { last = piece.previous }
        piece.next = nil
        piece.previous = nil
        piece.isWaiting = false
        count -= 1
        return true
    }

    /// A turn has come, or never will.
    mutating func endTurn() { turns -= 1 }

    /// Whether an alarm is the one that was set last, which it then is no more.
    mutating func end(_ alarm: Alarm) -> Bool {
        guard self.alarm === alarm else { return false }
        self.alarm = nil
        return true
    }

    /// The first piece, if there is one and a token for it.
    mutating func begin(at now: Moment) -> RateLimiterPiece? {
        guard let piece = first, bucket.next(at: now) <= now else { return nil }
        bucket.take(at: now)
        _ = remove(piece)
        return piece
    }

    /// Everybody who waits.
    mutating func takeAll() -> [RateLimiterPiece] {
        var all: [RateLimiterPiece] = []
        while let piece = first {
            _ = remove(piece)
            all.append(piece)
        }
        return all
    }

    /// Whether nothing is to be arranged after a turn: another one, which will see to it, is on its way, or nobody waits.
    ///
    /// An alarm that is set then is late, since a token was there before it rang, and will find nothing to do.
    var isSettled: Bool { turns > 0 || first == nil }

    /// What is missing for those who wait to begin in time: to be called after each change.
    mutating func arrange(at now: Moment, in section: CriticalSection) -> Step {
        guard first != nil else { return alarm.take().map { .cancel($0) } ?? .nothing }
        if turns > 0 || alarm != nil { return .nothing }
        let moment = bucket.next(at: now)
        if moment <= now {
            turns += 1
            return .takeTurn
        }
        let alarm = Alarm(in: section)
        self.alarm = alarm
        return .set(alarm, moment)
    }
}
