import ExecutionContexts
import ExecutionContextsWork
import Testing

/// The simplest specification of a queue whose base runs on one thread.
///
/// A job is counted as ended when the next event is reported, since nothing says when the queue has
/// taken its permit back.
final class QueueModel: @unchecked Sendable {
    // Unchecked: one thread uses it.
    enum End { case ran, cancelled, dropped }

    private var waiting: [(number: Int, priority: WorkPriority)] = []
    /// With a permit, but not begun; in the order of their permits.
    private(set) var handed: [Int] = []
    private var running: [Int] = []
    private var returned: Set<Int> = []
    private var open: Set<Int> = []
    private(set) var ends: [Int: End] = [:]
    private(set) var faults: [String] = []
    /// Whether jobs begin in the order of their permits, whatever the base does.
    private let isInOrder: Bool

    private(set) var limit: Int
    private(set) var isSuspended = false

    init(limit: Int, isInOrder: Bool) {
        self.limit = limit
        self.isInOrder = isInOrder
    }

    /// Whether a job that is submitted now has to wait for a permit.
    var mustWait: Bool {
        settle()
        return isSuspended || runningCount >= limit
    }

    var pendingCount: Int { waiting.count }
    var runningCount: Int { handed.count + running.count }
    func isPending(_ number: Int) -> Bool { waiting.contains { $0.number == number } }
    func hasStarted(_ number: Int) -> Bool { running.contains(number) || ends[number] == .ran }

    func expect(_ condition: Bool, _ fault: @autoclosure () -> String) {
        if !condition { faults.append(fault()) }
    }

    // MARK: Events

    func submit(_ number: Int, _ priority: WorkPriority, isOpen: Bool = false) {
        settle()
        waiting.append((number, priority))
        if isOpen { open.insert(number) }
        startOne()
    }

    func begin(_ number: Int) {
        settle()
        // A changed limit starts one job after the other.
        while !handed.contains(number), startOne() {}
        expect(
            isInOrder ? handed.first == number : handed.contains(number),
            "\(number) began, with a permit: \(handed)")
        expect(ends[number] == nil && !running.contains(number), "\(number) began again")
        handed.removeAll { $0 == number }
        running.append(number)
    }

    func returns(_ number: Int) { returned.insert(number) }

    func endOpen(_ number: Int) {
        settle()
        open.remove(number)
        settle()
    }

    /// The base has refused or dropped a job.
    func drop(_ number: Int) {
        settle()
        while !handed.contains(number), startOne() {}
        expect(handed.contains(number), "\(number) was dropped, with a permit: \(handed)")
        end(number, .dropped)
        handed.removeAll { $0 == number }
        startOne()
    }

    /// A caller is about to cancel a job; true if the job has not begun.
    func cancel(_ number: Int) -> Bool {
        settle()
        if isPending(number) {
            waiting.removeAll { $0.number == number }
            end(number, .cancelled)
            return true
        }
        guard handed.contains(number) else { return false }
        handed.removeAll { $0 == number }
        end(number, .cancelled)
        startOne()
        return true
    }

    func setPriority(_ priority: WorkPriority, of number: Int) {
        settle()
        guard let index = waiting.firstIndex(where: { $0.number == number }),
            waiting[index].priority != priority
        else { return }
        let old = waiting.remove(at: index)
        // A lowered job comes before those of its new priority, a raised one behind them.
        waiting.insert((number, priority), at: priority < old.priority ? 0 : waiting.count)
    }

    func setLimit(_ new: Int) {
        settle()
        limit = new
        startOne()
    }

    func setSuspended(_ new: Bool) {
        settle()
        isSuspended = new
        startOne()
    }

    /// Counts what has ended, and gives all permits away.
    func catchUp() {
        settle()
        while startOne() {}
    }

    /// Counts what has ended.
    func settle() {
        while let number = running.first(where: { returned.contains($0) && !open.contains($0) }) {
            running.removeAll { $0 == number }
            end(number, .ran)
            startOne()
        }
    }

    private func end(_ number: Int, _ how: End) {
        expect(ends[number] == nil, "\(number) ended twice")
        ends[number] = how
    }

    @discardableResult
    private func startOne() -> Bool {
        guard !isSuspended, handed.count + running.count < limit,
            let best = waiting.map(\.priority).max()
        else { return false }
        let index = waiting.firstIndex { $0.priority == best }!
        handed.append(waiting.remove(at: index).number)
        return true
    }
}

/// A base that keeps the jobs it is given until the test runs them.
class DrivenBase: ExecutionContext, @unchecked Sendable {
    // Unchecked: one thread uses it.
    enum Manner: CaseIterable { case inOrder, anyOrder, faulty, inline }

    let manner: Manner
    private var rng: SeededRNG
    private var kept: [Work] = []
    private let frames: any SerialContext = ImmediateContext().serial()
    var facts: ContextFacts { ContextFacts() }

    init(_ manner: Manner, seed: UInt64) {
        self.manner = manner
        rng = SeededRNG(seed: seed)
    }

    var name: String { "driven" }
    var isIdle: Bool { kept.isEmpty }

    func execute(_ work: @escaping Work) { execute(work, refused: { _ in }) }

    func enqueue(_ work: @escaping Work) {
        // It refuses nothing here, and may still drop it.
        if manner == .faulty, rng.next(below: 8) == 0 { return }
        kept.append(work)
    }

    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        switch (manner, rng.next(below: 8)) {
        case (.faulty, 0): refused(Refusal(.full(capacity: kept.count), by: name))
        case (.faulty, 1): return
        case (.faulty, 2), (.inline, 0...5): work()
        default: kept.append(work)
        }
    }

    /// Runs or drops one of the kept jobs.
    func step() {
        guard !kept.isEmpty else { return }
        let index = manner == .inOrder ? 0 : rng.next(below: kept.count)
        let work = kept.remove(at: index)
        if manner == .faulty, rng.next(below: 5) == 0 { return }
        // A job of the library's own contexts has a frame.
        frames.execute(work)
        // A context may run a job twice.
        if manner == .faulty, rng.next(below: 5) == 0 { work() }
    }
}

/// The same, and the queue may take it for a context of the library's own.
final class ReliableDrivenBase: DrivenBase, @unchecked Sendable {
    // Unchecked because its superclass is.
    override var facts: ContextFacts {
        var facts = ContextFacts()
        facts.isReliable = true
        return facts
    }
}
