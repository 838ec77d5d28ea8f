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

    func execute(_ work: @escaping Work) {
        if room.withLock({ $0.enter() }) {
            send(work)
        } else if overflow == .callerRuns {
            work()
        } else {
            full.stop()
        }
    }

    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        // It may be sent by somebody else, later: what it needs of its submitter is bound now.
        let patient = Patient(work: bound(work), refused: refused)
        if room.withLock({ $0.enter(orHold: overflow == .wait ? patient : nil) }) {
            send(patient)
        } else if overflow == .callerRuns {
            work()
        } else if overflow == .refuse {
            refused(full)
        }
    }

    func tryExecute(_ work: @escaping Work) throws(Refusal) {
        if room.withLock({ $0.enter() }) {
            send(work)
        } else if overflow == .callerRuns {
            work()
        } else {
            throw full
        }
    }

    /// Work whose delay is due was accepted when it was scheduled, and the turn of a view when its work was:
    /// both enter above the capacity too.
    func enqueue(_ work: @escaping Work) {
        room.withLock { $0.enterAlways() }
        let turn = Turn(work, of: self)
        base.enqueue { turn.run() }
    }

    private func send(_ work: @escaping Work) {
        let turn = Turn(work, of: self)
        base.execute { turn.run() }
    }

    private func send(_ patient: Patient) {
        let turn = Turn(patient.work, of: self)
        base.execute(
            { turn.run() },
            refused: { refusal in
                turn.end()
                patient.refused(refusal)
            })
    }

    private func leave() {
        if let next = room.withLock({ $0.leave() }) { send(next) }
    }

    private var full: Refusal { Refusal(.full(capacity: capacity), by: name) }

    /// One piece that waits on the base; it leaves the view when it starts, or when the base lets it go.
    private final class Turn: Sendable {
        private let work: Work
        private let view: Counted
        private let hasLeft = Atomic<Bool>(false)

        init(_ work: @escaping Work, of view: Counted) {
            self.work = work
            self.view = view
        }

        deinit { end() }

        func run() { if end() { work() } }

        // Acquiring and releasing: the work sees what its submitter wrote, whatever the base does.
        @discardableResult
        func end() -> Bool {
            Seam.point()
            guard !hasLeft.exchange(true, ordering: .acquiringAndReleasing) else { return false }
            view.leave()
            return true
        }
    }
}

extension Counted: BarrierContext where Base: BarrierContext {
    func executeBarrier(_ work: @escaping Work) {
        guard room.withLock({ $0.enter() }) else { full.stop() }
        let turn = Turn(work, of: self)
        base.executeBarrier { turn.run() }
    }
}

extension Counted: SerialContext where Base: SerialContext {}

/// Who can wait for room: a submission that is told if it is refused.
private struct Patient: Sendable {
    let work: Work
    let refused: @Sendable (Refusal) -> Void
}

/// How many wait on the base, and who waits for them.
private struct Room: ~Copyable {
    private let capacity: Int
    private var waiting = 0
    private var patients: [Patient] = []
    private var firstPatient = 0

    init(capacity: Int) { self.capacity = capacity }

    mutating func enter(orHold patient: Patient? = nil) -> Bool {
        if waiting < capacity {
            waiting += 1
            return true
        }
        if let patient { patients.append(patient) }
        return false
    }

    mutating func enterAlways() { waiting += 1 }

    /// One leaves; the next who may come in, if there is one.
    mutating func leave() -> Patient? {
        waiting -= 1
        guard waiting < capacity, firstPatient < patients.count else { return nil }
        waiting += 1
        let next = patients[firstPatient]
        firstPatient += 1
        if firstPatient > 32, firstPatient > patients.count / 2 {
            patients.removeFirst(firstPatient)
            firstPatient = 0
        }
        return next
    }
}

extension Refusal {
    /// Plain `execute` has no way to say no: stops the program.
    fileprivate func stop() -> Never {
        stopMisuse("\(self) Plain execute cannot be refused: use tryExecute or run.")
    }
}
