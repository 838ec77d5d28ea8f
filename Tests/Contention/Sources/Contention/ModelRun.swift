/// One run of a shape: its machine, its size, and what it counts.
///
/// The first half of the operations warms the machine up, and is not counted.
final class ModelRun: @unchecked Sendable {
    // Unchecked: the machine runs one thread at a time.
    let machine: Machine
    let workers: Int
    /// How many operations there are, and how many of them for each worker.
    let (count, share): (Int, Int)
    /// How long a job runs, or the body of a write, in nanoseconds.
    let workTime: Int64 = 1_000

    private var hits = 0
    private(set) var outcome: Outcome?
    private let unit: String
    var isDone: Bool { outcome != nil }

    init(_ shape: Shape, workers: Int, seed: UInt64) {
        (machine, self.workers, unit) = (Machine(seed: seed), workers, shape.unit)
        switch shape.size {
        case .perWorker(let share): (count, self.share) = (share * workers, share)
        case .total(let total): (count, share) = (total, 0)
        }
        machine.run { shape.build(self) }
    }

    func thread(_ body: @escaping @Sendable () -> Void) { machine.start(body) }

    /// The body of one operation.
    func work() {
        machine.spend(workTime)
        hit()
    }

    /// Counts an operation.
    func hit() {
        if isDone { return }
        hits += 1
        if hits == count / 2 { machine.beginCount() }
        if hits == count { outcome = Outcome(of: machine, count - count / 2, unit) }
    }
}

/// What the operations of a run cost, each on average.
public struct Outcome: Sendable, Equatable {
    public let unit: String
    /// How many cache lines moved from one processor to another.
    public let transfers: Double
    /// How many threads were woken or started.
    public let wakes: Double
    /// How many barriers for all threads were passed.
    public let barriers: Double
    /// The line that moved most, how often, and the place in the sources for which it did.
    public let hottest: String
    public let hottestTransfers: Double
    public let hottestSite: String

    init(of machine: Machine, _ operations: Int, _ unit: String) {
        func each(_ count: Int) -> Double { Double(count) / Double(operations) }
        let lines = machine.lines.all
        let line = lines.max { ($0.transfers, $1.name) < ($1.transfers, $0.name) }
        self.unit = unit
        transfers = each(lines.reduce(0) { $0 + $1.transfers })
        (wakes, barriers) = (each(machine.wakes), each(machine.barriers))
        hottest = line?.name ?? ""
        hottestTransfers = each(line?.transfers ?? 0)
        hottestSite = line?.hottest?.site.description ?? ""
    }
}

extension Shape {
    /// Runs the shape for a number of workers.
    public func outcome(workers: Int, seed: UInt64 = 1) -> Outcome {
        let run = ModelRun(self, workers: workers, seed: seed)
        guard let outcome = run.outcome else {
            preconditionFailure("'\(description)' has not run all of its operations.")
        }
        return outcome
    }
}
