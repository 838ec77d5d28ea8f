import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Compares the wheel with a sorted array, in thousands of random steps of nanoseconds to years.
struct TimerWheelModelTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `The wheel returns the same due delays as a sorted array, after random steps`(
        _ seed: UInt64
    ) {
        var deadlines = Deadlines(seed)
        var model = Model(now: seed == 1 ? 0 : Int64(deadlines.below(1 << 50)))
        for _ in 0..<4000 {
            switch deadlines.below(10) {
            case 0..<5: model.add(deadlines.deadline(after: model.now))
            case 5..<7: model.removeAny()
            default: model.turn(to: model.now.addingSaturating(deadlines.stride()))
            }
        }
        // Advances to the day before the end of time, from one wake-up of the wheel to the next.
        var wakeUps = 0
        while let wake = model.wheel.nextWake, wake < Model.end, wake > 0, wakeUps < 100_000 {
            model.turn(to: max(wake, model.now))
            wakeUps += 1
        }
        #expect(model.faults == [])
        #expect(model.wheel.count == model.pending.count)
        #expect(model.pending.allSatisfy { $0.key.deadline >= Model.end - (1 << 18) })
    }

    @Test func `A wheel that is freed releases its delays`() {
        weak var held: DelayedWork?
        do {
            var wheel = TimerWheel(now: 0)
            let delay = makeDelay(1 << 40)
            held = delay
            _ = wheel.add(delay)
        }
        #expect(held == nil)
    }
}

private func makeDelay(_ deadline: Int64) -> DelayedWork {
    Unattended().schedule(at: ContextInstant(nanoseconds: deadline)) {}
}

/// A context whose time source does not keep delays, so that the test can.
private struct Unattended: ExecutionContext {
    var time: any TimeSource { NoTime() }
    func execute(_ work: @escaping Work) { work() }
}

private final class NoTime: TimeSource {
    var now: ContextInstant { ContextInstant(nanoseconds: 0) }
    func add(_ delay: DelayedWork, tolerance: Duration) {}
    func remove(_ delay: DelayedWork) {}
}

/// A wheel, and the delays that it should hold.
private struct Model: ~Copyable {
    struct Key: Hashable, Comparable {
        var deadline: Int64
        var sequence: UInt64
        static func < (left: Key, right: Key) -> Bool {
            (left.deadline, left.sequence) < (right.deadline, right.sequence)
        }
    }

    /// Ticks overflow in the very last one, 292 years after the machine started.
    static let end = Int64.max - (1 << 19)

    var wheel: TimerWheel
    var now: Int64
    var pending: [Key: DelayedWork] = [:]
    var faults: [String] = []
    private var sequence: UInt64 = 0

    init(now: Int64) {
        self.now = now
        wheel = TimerWheel(now: now)
    }

    mutating func add(_ deadline: Int64) {
        sequence += 1
        let delay = makeDelay(deadline)
        delay.sequence = sequence
        let wake = wheel.add(delay)
        pending[Key(deadline: deadline, sequence: sequence)] = delay
        if deadline < Self.end, wake > max(deadline, now | 0x3FFFF) {
            faults.append("\(deadline) wakes late, at \(wake)")
        }
    }

    mutating func removeAny() {
        guard let (key, delay) = pending.first else { return }
        if !wheel.remove(delay) { faults.append("\(key) was not there") }
        if wheel.remove(delay) { faults.append("\(key) was removed twice") }
        pending[key] = nil
    }

    mutating func turn(to moment: Int64) {
        now = moment
        var due: [TimerNode] = []
        wheel.turn(to: now, into: &due)
        let fired = due.map { $0.take() }.sortedByDeadline()
        let keys = fired.map { Key(deadline: $0.deadline.nanoseconds, sequence: $0.sequence) }
        let expected = pending.keys.filter { $0.deadline <= now }.sorted()
        if keys != expected {
            faults.append("at \(now): \(keys.count) instead of \(expected.count)")
        }
        for key in keys { pending[key] = nil }
        if let next = wheel.nextWake, let first = pending.keys.min(), first.deadline < Self.end {
            // It may wake late by less than a tick. If it wakes early, no delay is due.
            if next > first.deadline.addingSaturating(1 << 18) {
                faults.append("\(first) wakes at \(next)")
            }
        } else if wheel.nextWake == nil, !pending.isEmpty {
            faults.append("nothing wakes \(pending.count)")
        }
    }
}

/// Random deadlines, reproducible by their seed.
private struct Deadlines {
    private var rng: SeededRNG
    init(_ seed: UInt64) { rng = SeededRNG(seed: seed) }

    mutating func below(_ bound: UInt64) -> UInt64 { rng.next() % bound }

    /// Past, present and future deadlines at every scale.
    mutating func deadline(after now: Int64) -> Int64 {
        switch below(12) {
        case 0: return 0
        case 1: return now
        case 2: return now - Int64(below(1 << 30))
        case 3: return .max - 1
        default: return now.addingSaturating(Int64(below(1 << (1 + below(61)))))
        }
    }

    /// Mostly small steps, and one in twenty of up to years.
    mutating func stride() -> Int64 {
        Int64(below(1 << (1 + below(below(20) == 0 ? 56 : 32))))
    }
}
