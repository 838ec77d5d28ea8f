internal import ExecutionContexts
internal import Synchronization

/// The threads of one search, and what its caller can see of it from outside.
final class Crew: @unchecked Sendable {
    // Unchecked: the threads belong to whoever has the turn; the rest is atomic or behind a lock.

    /// The turn of the thread that conducts the search.
    let conductor = Baton()
    private var threads: [LaneThread] = []
    private let processor: Int
    private let beats = Atomic(0)
    private let current = Atomic(0)
    private let names = Locked<[String]>([])
    private let strangerCame = Signal()
    private let strangers = Locked<[String]>([])

    private static let started = Atomic(0)

    init() { processor = Self.started.add(1, ordering: .relaxed).oldValue }

    /// Keeps the calling thread where the others are.
    func pin() { Processor.pin(processor) }

    /// The thread for the lane of a number: always the same, so that a schedule is.
    func thread(_ index: Int) -> LaneThread {
        while threads.count <= index { threads.append(LaneThread(processor: processor)) }
        return threads[index]
    }

    /// The threads of these lanes will never come back: others take their places.
    func replace(_ lanes: [Lane]) {
        for lane in lanes { threads[lane.id] = LaneThread(processor: processor) }
    }

    func dismiss() {
        for thread in threads {
            thread.assign(nil, on: nil)
            thread.baton.pass()
        }
        threads = []
    }

    // MARK: Seen from outside

    /// Somebody has made a step. Relaxed, here and below: it is looked at seldom, and any value is as good.
    func beat() {
        beats.store(beats.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    func turn(_ lane: Int) { current.store(lane, ordering: .relaxed) }

    var pulse: Int { beats.load(ordering: .relaxed) }

    /// The number of the lane that had the turn last.
    var lastLane: Int { current.load(ordering: .relaxed) }

    /// What the lane of a number is called, of the last schedule that had one.
    func name(of lane: Int) -> String { names.withLock { $0.indices.contains(lane) ? $0[lane] : "the body" } }

    func call(_ lane: Int, _ name: String) {
        names.withLock { names in
            while names.count <= lane { names.append("") }
            names[lane] = name
        }
    }

    /// A thread that is none of ours has used something simulated.
    func report(stranger sentence: String) {
        strangers.withLock { $0.append(sentence) }
        strangerCame.happen()
    }

    func takeStranger() -> String? {
        strangers.withLock { strangers in
            defer { strangers = [] }
            return strangers.first
        }
    }

    /// What a stranger does that is on its way, perhaps: nobody can know how long it takes.
    func awaitStranger() -> String? {
        _ = strangerCame.wait(count: 1, atMost: .milliseconds(200))
        return takeStranger()
    }
}
