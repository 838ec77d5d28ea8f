internal import Synchronization

/// A bounded view that counts the jobs waiting on its base.
///
/// It refuses, runs inline or holds back the jobs beyond its capacity. Each job goes to the base by
/// itself, so the base's order and barriers are the view's.
final class CountedView<Base: ExecutionContext>: ContextDecorator, RefusingContext {
    let base: Base
    private let capacity: Int
    private let overflow: Kind
    private let room: Guarded<Room>

    private enum Kind: Sendable { case refuse, callerRuns, wait }

    init(base: Base, capacity: Int, overflow: Overflow) {
        self.base = base
        self.capacity = capacity
        self.overflow =
            switch overflow.kind {
            case .refuse: .refuse
            case .callerRuns: .callerRuns
            case .wait: .wait
            case .dropOldest: fatalError("A DroppingView drops the oldest job.")
            }
        room = Guarded(Room(capacity: capacity))
    }

    func execute(_ work: consuming @escaping Work) {
        if room.withLock({ $0.enter() }) {
            send(Submitted(work: consume work))
        } else if overflow == .callerRuns {
            work()
        } else {
            full.stop()
        }
    }

    func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        // A later `leave`, on another thread, may send the job: bind the submitter's values here.
        var job: Submitted? = Submitted(work: bound(consume work), refused: consume refused)
        let isAccepted = room.withLock { room in
            room.enter() || overflow == .wait && room.hold(&job)
        }
        // If `room` holds the job, a later `leave` sends it. Otherwise ownership moves on to the
        // thread that runs the job, which then frees it (law 10).
        guard let job = job.take() else { return }
        if isAccepted {
            send(consume job)
        } else if overflow == .callerRuns {
            job.work()
        } else {
            job.refused?(full)
        }
    }

    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        try Deadline.ofCaller?.admit(by: name, from: nil)
        if room.withLock({ $0.enter() }) {
            send(Submitted(work: consume work))
        } else if overflow == .callerRuns {
            work()
        } else {
            throw full
        }
    }

    /// Enters above the capacity too: the job was accepted before.
    ///
    /// It is a delayed job, accepted when it was scheduled, or the drain of a view, which stands
    /// for jobs that the view has accepted.
    func enqueue(_ work: consuming @escaping Work) {
        room.withLock { $0.enterAboveCapacity() }
        base.enqueue(CompletionGuard.work(for: WaitingJob(Submitted(work: consume work), of: self)))
    }

    var facts: ContextFacts { .boundedView(of: base) }

    private var full: Refusal { Refusal(.full(capacity: capacity), by: name) }
}

// Succession: a job that leaves the room has the next held job sent.
extension CountedView {
    private func send(_ job: consuming Submitted) {
        let isPlain = job.refused == nil
        let waiting = WaitingJob(consume job, of: self)
        if isPlain { return base.execute(CompletionGuard.work(for: consume waiting)) }
        let (work, refused) = CompletionGuard.closures(for: consume waiting)
        base.execute(consume work, refused: consume refused)
    }

    /// Runs a job that leaves the room, and sends the next held job.
    ///
    /// 1. The next job is sent before this one runs: a concurrent base may run both in parallel.
    /// 2. A base that runs the next job inside that call hands it back: see `defers`.
    /// 3. A job that was handed back is sent again after this one has run. So the order is kept,
    ///    and the stack does not grow.
    private func run(_ job: consuming Submitted) {
        // Freed after it has run and before the next job runs (law 10).
        var job: Submitted? = consume job
        guard let next = room.withLock({ $0.leave() }) else {
            job.take()?.work()
            return
        }
        if let outer = unsafe succession, unsafe outer.pointee.sendsNext {
            unsafe outer.pointee.waiting.append(consume next)
            job.take()?.work()
            return
        }
        unsafe sendAll(consume next) { succession in
            unsafe succession.pointee.phase = .starting
            while unsafe !succession.pointee.baseRanInline,
                let next = unsafe succession.pointee.waiting.popFirst()
            {
                send(consume next)
            }
            unsafe succession.pointee.phase = .running
            job.take()?.work()
        }
    }

    /// Sends the next held job, because a job has left the room without running.
    private func leave() {
        guard let next = room.withLock({ $0.leave() }) else { return }
        if let outer = unsafe succession,
            unsafe outer.pointee.sendsNext || outer.pointee.phase == .starting
        {
            unsafe outer.pointee.waiting.append(consume next)
        } else {
            unsafe sendAll(consume next) { _ in }
        }
    }

    /// Runs `body`, then sends `next` and, one after the other, the jobs that follow it.
    private func sendAll(
        _ next: consuming Submitted, _ body: (UnsafeMutablePointer<Succession>) -> Void
    ) {
        var succession = Succession()
        succession.waiting.append(consume next)
        unsafe withUnsafeMutablePointer(to: &succession) { succession in
            unsafe Frame.enter(Frame.owner(self), note: Int(bitPattern: succession)) {
                unsafe body(succession)
                unsafe succession.pointee.phase = .sending
                while let next = unsafe succession.pointee.waiting.popFirst() { send(consume next) }
            }
        }
    }

    /// The succession of this view that is under way further up this thread's stack.
    private var succession: UnsafeMutablePointer<Succession>? {
        unsafe Frame.note(of: Frame.owner(self)).flatMap {
            unsafe UnsafeMutablePointer(bitPattern: $0)
        }
    }

    /// Whether the base runs `job` inside the call that sends it, before the sending job has begun.
    ///
    /// If so, the job is queued in the succession and sent later.
    private func defers(_ job: Submitted) -> Bool {
        guard !job.isBarrier, let outer = unsafe succession, unsafe outer.pointee.phase == .starting
        else { return false }
        unsafe outer.pointee.baseRanInline = true
        unsafe outer.pointee.waiting.append(job)
        return true
    }

    /// A job that waits on the base.
    ///
    /// It leaves the room when it starts, when it is refused, or when the base drops it.
    private struct WaitingJob: GuardedJob {
        var job: Submitted?
        let view: CountedView

        init(_ job: consuming Submitted, of view: CountedView) {
            self.job = consume job
            self.view = view
        }

        var source: JobSource { job.map { JobSource(of: $0.work) } ?? .unknown }

        static var hasSchedulingPoint: Bool { true }

        mutating func run() {
            guard let job = job.take() else { return }
            if !view.defers(job) { view.run(consume job) }
        }

        mutating func refuse(_ refusal: Refusal) {
            guard let job = job.take() else { return }
            view.leave()
            job.refused?(refusal)
        }

        mutating func drop() {
            job = nil
            view.leave()
        }
    }
}

extension CountedView: BarrierContext where Base: BarrierContext {
    func executeBarrier(_ work: consuming @escaping Work) {
        guard room.withLock({ $0.enter() }) else { full.stop() }
        let job = WaitingJob(Submitted(work: consume work, isBarrier: true), of: self)
        base.executeBarrier(CompletionGuard.work(for: consume job))
    }
}

extension CountedView: SerialContext where Base: SerialContext {}

/// A job and its refusal handler; only a job that can be refused waits for room.
private struct Submitted: Sendable {
    let work: Work
    var refused: (@Sendable (Refusal) -> Void)?
    var isBarrier = false
}

/// The jobs that a job leaving the room has to send, one after the other; on that job's stack.
private struct Succession: ~Copyable {
    enum Phase { case starting, running, sending }

    var phase = Phase.sending
    var waiting = FIFO<Submitted>()
    /// Whether the base ran a job inline before this one had begun, so that it was deferred.
    var baseRanInline = false

    /// Whether a job that runs inside this one leaves the sending of its successor to this one.
    var sendsNext: Bool { phase == .sending || phase == .running && !waiting.isEmpty }
}

/// The number of jobs that wait on the base, and the jobs held until there is room.
private struct Room: ~Copyable {
    private let capacity: Int
    private var waiting = 0
    private var held = FIFO<Submitted>()

    init(capacity: Int) { self.capacity = capacity }

    mutating func enter() -> Bool {
        guard waiting < capacity else { return false }
        waiting += 1
        return true
    }

    /// Keeps a job until there is room.
    ///
    /// The job is moved, so that its submitter does not free it (law 10).
    mutating func hold(_ job: inout Submitted?) -> Bool {
        if let job = job.take() { held.append(job) }
        return true
    }

    mutating func enterAboveCapacity() { waiting += 1 }

    /// Takes one job out of the count and returns the next held job that may enter, if any.
    ///
    /// The caller owns the returned job, and frees it outside of the lock (law 9).
    mutating func leave() -> Submitted? {
        waiting -= 1
        guard waiting < capacity, let next = held.popFirst() else { return nil }
        waiting += 1
        return next
    }
}

extension Refusal {
    /// Traps with a message: plain `execute` has no way to refuse a job.
    fileprivate func stop() -> Never {
        stopMisuse("\(self) Plain execute cannot be refused: use tryExecute or run.")
    }
}
