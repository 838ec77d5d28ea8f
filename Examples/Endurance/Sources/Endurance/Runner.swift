import Foundation
import Synchronization

/// Threads that run rounds of random areas until a limit of time or operations is reached.
///
/// The calling thread looks for stuck rounds.
final class Runner: Sendable {
    struct Limits: Sendable {
        var seconds = 60.0
        var operations = Int.max
        var seed: UInt64 = 1
        var only: Set<Area> = Set(Area.allCases)
    }

    private struct CurrentRound: Sendable {
        var area: Area?
        var since = Date()
    }

    private let limits: Limits
    private let drivers: Int
    private let completed = Lock<[Area: (operations: Int, rounds: Int)]>([:])
    private let current: Lock<[CurrentRound]>
    private let live = Atomic(0)
    private let isOver = Atomic(false)

    init(_ limits: Limits, drivers: Int) {
        self.limits = limits
        self.drivers = drivers
        current = Lock([CurrentRound](repeating: CurrentRound(), count: drivers))
    }

    var totals: [Area: (operations: Int, rounds: Int)] { completed.withLock { $0 } }

    var operations: Int { completed.withLock { $0.values.reduce(0) { $0 + $1.operations } } }

    /// Runs the drivers, and returns when the last one has ended or one is stuck.
    func run(for seconds: Double) {
        let deadline = Date().addingTimeInterval(seconds)
        isOver.store(false, ordering: .relaxed)
        live.store(drivers, ordering: .relaxed)
        let seed = UInt64(operations) &+ limits.seed
        for driver in 0..<drivers {
            let thread = Thread { [self] in drive(driver, seed &+ UInt64(driver) << 32) }
            thread.stackSize = 1 << 20
            thread.start()
        }
        let ended = NSCondition()
        while live.load(ordering: .acquiring) > 0 {
            // The condition is never signalled: this thread checks again after each time limit.
            ended.lock()
            _ = ended.wait(until: Date().addingTimeInterval(0.05))
            ended.unlock()
            if Date() >= deadline || operations >= limits.operations {
                isOver.store(true, ordering: .relaxed)
            }
            if let stuck { return Faults.shared.add(.stuck, stuck) }
        }
    }

    private var stuck: String? {
        let patience = Double(Round.patience) * 2
        return current.withLock { rounds in
            rounds.first { $0.area != nil && $0.since.timeIntervalSinceNow < -patience }
                .map { "a round of \($0.area!.rawValue) has not ended in \(patience) s" }
        }
    }

    private func drive(_ driver: Int, _ seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        let areas = Area.allCases.filter { limits.only.contains($0) }
        while !isOver.load(ordering: .relaxed) {
            let area = areas[rng.next(below: areas.count)]
            current.withLock { $0[driver] = CurrentRound(area: area) }
            let count = area.round(&rng)
            current.withLock { $0[driver].area = nil }
            completed.withLock { totals in
                totals[area, default: (0, 0)].operations += count
                totals[area, default: (0, 0)].rounds += 1
            }
        }
        // Releasing: the thread in `run(for:)` sees the writes of this driver.
        live.subtract(1, ordering: .releasing)
    }
}
