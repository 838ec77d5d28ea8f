import Foundation
import Synchronization

/// Threads that do rounds of random areas until time or the number of operations is up, and one
/// that watches them.
final class Runner: Sendable {
    struct Limits: Sendable {
        var seconds = 60.0
        var operations = Int.max
        var seed: UInt64 = 1
        var only: Set<Area> = Set(Area.allCases)
    }

    private struct Doing: Sendable {
        var area: Area?
        var since = Date()
    }

    private let limits: Limits
    private let drivers: Int
    private let done = Lock<[Area: (operations: Int, rounds: Int)]>([:])
    private let doing: Lock<[Doing]>
    private let live = Atomic(0)
    private let isOver = Atomic(false)

    init(_ limits: Limits, drivers: Int) {
        self.limits = limits
        self.drivers = drivers
        doing = Lock([Doing](repeating: Doing(), count: drivers))
    }

    var totals: [Area: (operations: Int, rounds: Int)] { done.withLock { $0 } }

    var operations: Int { done.withLock { $0.values.reduce(0) { $0 + $1.operations } } }

    /// Runs all of it, and returns when the last driver has ended or one is stuck.
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
            // Never signalled: the time limit makes this thread look again.
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
        return doing.withLock { doing in
            doing.first { $0.area != nil && $0.since.timeIntervalSinceNow < -patience }
                .map { "a round of \($0.area!.rawValue) has not ended in \(patience) s" }
        }
    }

    private func drive(_ driver: Int, _ seed: UInt64) {
        var dice = Dice(seed: seed)
        let areas = Area.allCases.filter { limits.only.contains($0) }
        while !isOver.load(ordering: .relaxed) {
            let area = areas[dice.roll(areas.count)]
            doing.withLock { $0[driver] = Doing(area: area) }
            let count = area.round(&dice)
            doing.withLock { $0[driver].area = nil }
            done.withLock { totals in
                totals[area, default: (0, 0)].operations += count
                totals[area, default: (0, 0)].rounds += 1
            }
        }
        // Releasing: the watcher sees what this driver did.
        live.subtract(1, ordering: .releasing)
    }
}
