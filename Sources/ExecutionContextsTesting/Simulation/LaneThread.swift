internal import ExecutionContexts
internal import Foundation

/// A thread that plays one lane after another, schedule after schedule: what the primitives find as their simulation.
final class LaneThread: TimedSimulation, @unchecked Sendable {
    // Unchecked: `lane` and `stage` are set by whoever has the turn, while this thread waits for it.

    let baton = Baton()
    private(set) var identifier: UInt32 = 0
    /// What it would sleep on if it were not simulated.
    private var sleeping: Word?
    private(set) var lane: Lane?
    private(set) var stage: Stage?
    /// What a waker did before is seen by the woken.
    private let wakes = Edge()

    /// Starts the thread, which waits for its first lane.
    init(processor: Int) {
        let started = Signal()
        let thread = Thread { [self] in
            Processor.pin(processor)
            identifier = Seam.thread
            unsafe sleeping = Word(Seam.parkedWord)
            Seam.simulating(self) {
                started.happen()
                while play() {}
            }
        }
        thread.stackSize = 1 << 19
        thread.start()
        started.wait()
    }

    /// The lane thread that calls, if one does.
    static var current: LaneThread? { Seam.current as? LaneThread }

    /// Whether a thread from outside has woken this one since it got its lane, which it cannot hear.
    var wasWokenFromOutside: Bool { sleeping?.holder == 1 }

    func assign(_ lane: Lane?, on stage: Stage?) {
        self.lane = lane
        self.stage = stage
        // A late wake-up may have been for a thread that ended before this one began.
        if lane != nil { sleeping?.clear() }
    }

    /// Waits for the turn and plays the lane; false when there will be none any more.
    private func play() -> Bool {
        Unseen.begin()
        baton.wait()
        let (lane, stage) = (self.lane, self.stage)
        Unseen.end()
        guard let lane, let stage else { return false }
        lane.edge.follow()
        lane.body?()
        // As at the end of a thread: what it kept for itself is gone.
        Seam.forgetLocals()
        if Thread.current.threadDictionary.count > 0 { Thread.current.threadDictionary.removeAllObjects() }
        lane.edge.precede()
        Unseen.begin()
        // The lanes begin when the body has ended: they see all of it.
        if lane.id == 0 { for other in stage.lanes { other.edge.precede() } }
        stage.didReturn(lane)
        Unseen.end()
        return true
    }

    // MARK: What the primitives say

    var now: Int64 { stage?.now ?? 0 }

    func willTouch(_ word: UnsafeRawPointer) {
        Unseen.begin()
        if let lane, let stage { unsafe stage.willTouch(Word(word), by: lane) }
        Unseen.end()
    }

    func willStep() {
        Unseen.begin()
        if let lane, let stage { stage.willStep(lane) }
        Unseen.end()
    }

    func willEnter(_ owner: UnsafeRawPointer) {
        Unseen.begin()
        if let lane, let stage { unsafe stage.willEnter(Word(owner), by: lane) }
        Unseen.end()
    }

    func didHandOver(_ owner: UnsafeRawPointer) {
        Unseen.begin()
        let word = unsafe Word(owner)
        lane?.held.removeAll { $0 == word }
        Unseen.end()
    }

    func willSpin(_ word: UnsafeRawPointer) {
        Unseen.begin()
        if let lane, let stage { stage.point(lane, yields: true) }
        Unseen.end()
    }

    func didMake(_ word: UnsafeRawPointer, _ name: String) {
        Unseen.begin()
        unsafe stage?.names.add(Word(word), name)
        Unseen.end()
    }

    func willWait(_ state: UnsafeRawPointer, _ writer: UnsafeRawPointer, _ carrier: String) {
        Unseen.begin()
        unsafe lane?.awaited = .coordinator(Word(state), writer: Word(writer), carrier: carrier)
        Unseen.end()
    }

    func park(until deadline: Int64) -> Bool {
        Unseen.begin()
        var wasWoken = true
        if let lane, let stage { wasWoken = stage.park(lane, until: deadline) }
        Unseen.end()
        wakes.follow()
        return wasWoken
    }

    func undivided(_ body: () -> Void) {
        lane?.undivided += 1
        body()
        lane?.undivided -= 1
    }

    func lend(_ work: @escaping @Sendable () -> Void) {
        Unseen.begin()
        if let lane, let stage { stage.lend(work, by: lane) }
        Unseen.end()
    }

    func submit(_ work: @escaping @Sendable () -> Void) {
        Unseen.begin()
        if let lane, let stage { stage.submit(work, by: lane) }
        Unseen.end()
    }

    func didLeave(for name: String) {
        Unseen.begin()
        if let lane, let stage { stage.didLeave(for: name, lane) }
        Unseen.end()
    }

    var time: any TimeSource { stage?.clock ?? SystemTime.shared }

    func unpark(_ thread: UInt32) {
        Unseen.begin()
        let woken = if let lane, let stage { stage.willUnpark(thread, by: lane) } else { nil as Lane? }
        Unseen.end()
        guard let woken else { return }
        woken.thread.wakes.precede()
        Unseen.begin()
        stage?.unpark(woken)
        Unseen.end()
    }
}
