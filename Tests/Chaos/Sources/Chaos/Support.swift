import Foundation
import Synchronization

/// What one round did, and what it found broken.
struct Findings: Sendable {
    var operations = 0
    var broken: [String] = []

    mutating func check(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds { broken.append(text()) }
    }
}

/// Random choices of one round.
struct Draw: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// True in one of `n` cases.
    mutating func oneIn(_ n: Int) -> Bool { below(n) == 0 }

    /// A draw of its own, for another task.
    mutating func split() -> Draw { Draw(seed: next()) }

    /// Gives way to other tasks, a few times or not at all.
    mutating func pause() async { for _ in 0..<below(4) { await Task.yield() } }
}

/// A value that several tasks change.
final class Shared<Value: Sendable>: @unchecked Sendable {
    // Unchecked: every access is under the lock. The sanitizer does not see `Mutex`.
    private let lock = NSLock()
    private var state: Value

    init(_ value: Value) { state = value }

    var value: Value { lock.withLock { state } }

    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&state) }
    }
}

/// An object whose life is counted: what is lost or freed twice shows.
final class Counted: Sendable {
    let number: Int
    private let alive: Shared<Int>

    init(_ number: Int, _ alive: Shared<Int>) {
        (self.number, self.alive) = (number, alive)
        alive.change { $0 += 1 }
    }

    deinit { alive.change { $0 -= 1 } }
}

/// Something that one thread at a time may touch. A second one shows as a count, and to the thread
/// sanitizer.
final class Unshared: @unchecked Sendable {
    // Unchecked: whether its users exclude each other is what is tested.
    private var entries = 0
    private let inside = Atomic<Int>(0)
    private let overlaps = Atomic<Int>(0)

    func touch() {
        if inside.add(1, ordering: .relaxed).newValue > 1 { overlaps.add(1, ordering: .relaxed) }
        entries += 1
        inside.subtract(1, ordering: .relaxed)
    }

    var overlapCount: Int { overlaps.load(ordering: .relaxed) }
    /// Read when no one touches it any more.
    var count: Int { entries }
}

/// Waits until a condition holds that other tasks make true.
func until(_ condition: () -> Bool) async { while !condition() { await Task.yield() } }
