internal import Synchronization

/// Lets only so many pieces wait on its base, and refuses, runs or holds back what is beyond.
///
/// Each piece goes to the base with its own work, so the base's order and its barriers are the view's.
final class Counted<Base: ExecutionContext>: ContextDecorator, RefusingContext {
    let base: Base
    private let capacity: Int
    private let overflow: Kind
    private let room: Guarded<Room>

    enum Kind: Sendable { case refuse, callerRuns, wait }

    init(base: Base, capacity: Int, overflow: Kind) {
        self.base = base
        self.capacity = capacity
        self.overflow = overflow
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

    func execute(_ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        // Another job may send it, later: what it needs of its submitter is bound now.
        var job: Submitted? = Submitted(work: bound(consume work), refused: refused)
        let isIn = room.withLock { room in
            room.enter() || overflow == .wait && room.hold(&job)
        }
        // If the room holds the job, the next `leave` sends it. Otherwise the job is moved on, so
        // that the thread that runs it frees it (law 10).
        guard let job = job.take() else { return }
        if isIn {
            send(consume job)
        } else if overflow == .callerRuns {
            job.work()
        } else {
            refused(full)
        }
    }

    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        if room.withLock({ $0.enter() }) {
            send(Submitted(work: consume work))
        } else if overflow == .callerRuns {
            work()
        } else {
            throw full
        }
    }

    /// Work whose delay is due was accepted when it was scheduled, and the turn of a view when its work was:
    /// both enter above the capacity too.
    func enqueue(_ work: consuming @escaping Work) {
        room.withLock { $0.enterAlways() }
        let turn = Turn(Submitted(work: consume work), of: self)
        base.enqueue { turn.run() }
    }

    private var full: Refusal { Refusal(.full(capacity: capacity), by: name) }
}

// How a job that leaves its place has the next one sent.
extension Counted {
    private func send(_ job: consuming Submitted) {
        let isPlain = job.refused == nil
        let turn = Turn(consume job, of: self)
        if isPlain { return base.execute { turn.run() } }
        base.execute({ turn.run() }, refused: { turn.refuse($0) })
    }

    /// Runs a job that has had its place, and sends the next one.
    ///
    /// The next one is sent first, since on a concurrent base it may run beside this one. A base
    /// that runs it at once, here, hands it back, and it is sent again when this one has run: so
    /// the order is kept, and the stack does not grow.
    private func run(_ job: consuming Submitted) {
        // Freed when it has run, before the next one runs (law 10).
        var job: Submitted? = consume job
        guard let next = room.withLock({ $0.leave() }) else {
            job.take()?.work()
            return
        }
        if let outer = unsafe succession, unsafe outer.pointee.takesNext {
            unsafe outer.pointee.waiting.append(consume next)
            job.take()?.work()
            return
        }
        unsafe succeed(consume next) { succession in
            unsafe succession.pointee.stage = .starting
            while unsafe !succession.pointee.hasComeInline,
                let next = unsafe succession.pointee.waiting.popFirst()
            {
                send(consume next)
            }
            unsafe succession.pointee.stage = .running
            job.take()?.work()
        }
    }

    /// A job has left its place and will not run: sends the next one.
    private func leave() {
        guard let next = room.withLock({ $0.leave() }) else { return }
        if let outer = unsafe succession, unsafe outer.pointee.takesNext || outer.pointee.stage == .starting {
            unsafe outer.pointee.waiting.append(consume next)
        } else {
            unsafe succeed(consume next) { _ in }
        }
    }

    /// Runs `body`, then sends the next job and, one after the other, those whose turn it is by
    /// that.
    private func succeed(_ next: consuming Submitted, _ body: (UnsafeMutablePointer<Succession>) -> Void) {
        var succession = Succession()
        succession.waiting.append(consume next)
        unsafe withUnsafeMutablePointer(to: &succession) { succession in
            unsafe Frame.enter(Frame.owner(self), note: Int(bitPattern: succession)) {
                unsafe body(succession)
                unsafe succession.pointee.stage = .sending
                while let next = unsafe succession.pointee.waiting.popFirst() { send(consume next) }
            }
        }
    }

    /// What is under way on this thread, further up the stack.
    private var succession: UnsafeMutablePointer<Succession>? {
        unsafe Frame.note(of: Frame.owner(self)).flatMap { unsafe UnsafeMutablePointer(bitPattern: $0) }
    }

    /// Whether a base runs a job at once, inside the call by which another job that has not begun
    /// sends it: it comes later.
    private func defers(_ job: Submitted) -> Bool {
        guard !job.isBarrier, let outer = unsafe succession, unsafe outer.pointee.stage == .starting
        else { return false }
        unsafe outer.pointee.hasComeInline = true
        unsafe outer.pointee.waiting.append(job)
        return true
    }

    /// One job that waits on the base; it leaves its place when it starts, or when the base drops
    /// it.
    private final class Turn: @unchecked Sendable {
        // Unchecked: the job belongs to whoever claims it, once.
        private var job: Submitted?
        private let view: Counted
        private let isClaimed = Atomic<Bool>(false)

        init(_ job: consuming Submitted, of view: Counted) {
            self.job = consume job
            self.view = view
        }

        deinit { if job.take() != nil { view.leave() } }

        func run() {
            guard let job = claim() else { return }
            if !view.defers(job) { view.run(consume job) }
        }

        func refuse(_ refusal: Refusal) {
            guard let job = claim() else { return }
            view.leave()
            job.refused?(refusal)
        }

        // Acquiring and releasing: the work sees what its submitter wrote, whatever the base does.
        private func claim() -> Submitted? {
            Seam.point()
            return isClaimed.exchange(true, ordering: .acquiringAndReleasing) ? nil : job.take()
        }
    }
}

extension Counted: BarrierContext where Base: BarrierContext {
    func executeBarrier(_ work: consuming @escaping Work) {
        guard room.withLock({ $0.enter() }) else { full.stop() }
        let turn = Turn(Submitted(work: consume work, isBarrier: true), of: self)
        base.executeBarrier { turn.run() }
    }
}

extension Counted: SerialContext where Base: SerialContext {}

/// A job, and what is called if it is refused; only one that can be refused waits for room.
private struct Submitted: Sendable {
    let work: Work
    var refused: (@Sendable (Refusal) -> Void)?
    var isBarrier = false
}

/// The jobs that are to be sent, one after the other, by the job that has left its place; on its
/// stack.
private struct Succession: ~Copyable {
    enum Stage { case starting, running, sending }

    var stage = Stage.sending
    var waiting = FIFO<Submitted>()
    /// Whether a job came while this one had not begun, and waits for it.
    var hasComeInline = false

    /// Whether a job that runs inside this one leaves it to this one to send the next.
    var takesNext: Bool { stage == .sending || stage == .running && !waiting.isEmpty }
}

/// How many wait on the base, and which submissions wait for them.
private struct Room: ~Copyable {
    private let capacity: Int
    private var waiting = 0
    private var submissions = FIFO<Submitted>()

    init(capacity: Int) { self.capacity = capacity }

    mutating func enter() -> Bool {
        guard waiting < capacity else { return false }
        waiting += 1
        return true
    }

    /// Keeps a job until there is room. It is moved, so that its submitter does not free it (law
    /// 10).
    mutating func hold(_ job: inout Submitted?) -> Bool {
        if let job = job.take() { submissions.append(job) }
        return true
    }

    mutating func enterAlways() { waiting += 1 }

    /// One leaves; the next that may come in, if there is one. It is the caller's, to be freed
    /// outside the lock (law 9).
    mutating func leave() -> Submitted? {
        waiting -= 1
        guard waiting < capacity, let next = submissions.popFirst() else { return nil }
        waiting += 1
        return next
    }
}

extension Refusal {
    /// Plain `execute` has no way to say no: stops the program.
    fileprivate func stop() -> Never {
        stopMisuse("\(self) Plain execute cannot be refused: use tryExecute or run.")
    }
}
