import Dispatch
import ExecutionContexts
import Foundation

/// Runs a few real threads one at a time, in an order that a seed decides.
///
/// It switches only where a primitive of coordination is about to touch a shared word, parks or unparks, so one
/// seed gives one schedule. Its clock is virtual: a parked thread with a deadline may be slow or may time out at
/// any switch, and time jumps when nobody else can run.
final class MiniSimulator: Simulation, @unchecked Sendable {
    // Unchecked: only the thread whose turn it is touches the state, and semaphores pass the turn on.

    /// How a schedule ended.
    enum Outcome: Equatable {
        case finished
        /// These bodies, by index, sleep and nobody can wake them. Their threads stay behind.
        case deadlocked([Int])
        /// The bodies went on for more steps than anything sensible takes.
        case endless
    }

    private enum State: Equatable {
        case running
        case parked(until: Int64)
        case ended
    }

    private final class Player {
        let turn = DispatchSemaphore(value: 0)
        var thread: UInt32 = 0
        var state = State.running
        var hasToken = false
        var wasWoken = false
    }

    private(set) var now: Int64 = 1_000_000_000
    /// The indices of the bodies that had the turns: the schedule.
    private(set) var trace: [Int] = []

    private var random: UInt64
    private let switchesOneIn: UInt64
    private var players: [Player] = []
    private var current = 0
    private var outcome = Outcome.finished
    private let over = DispatchSemaphore(value: 0)

    init(seed: UInt64) {
        random = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        // Some schedules with many switches, some with few: they find different faults.
        switchesOneIn = [1, 2, 4, 12][Int(seed % 4)]
    }

    /// Runs the bodies, each on a thread of its own, until all have ended or no one can go on.
    func run(_ bodies: [@Sendable () -> Void]) -> Outcome {
        let ready = DispatchGroup()
        players = bodies.map { _ in Player() }
        for (index, body) in bodies.enumerated() {
            ready.enter()
            Thread.detachNewThread { [self] in
                let player = players[index]
                player.thread = Seam.thread
                ready.leave()
                player.turn.wait()
                Seam.simulating(self) { body() }
                player.state = .ended
                choose()?.turn.signal()
            }
        }
        ready.wait()
        choose()?.turn.signal()
        over.wait()
        return outcome
    }

    /// A point at which another body may have its turn; for bodies that want one of their own.
    func step() { pass(from: players[current]) }

    func willTouch(_ word: UnsafeRawPointer) { step() }
    func willEnter(_ owner: UnsafeRawPointer) { step() }
    func willSpin(_ word: UnsafeRawPointer) { step() }
    func didHandOver(_ owner: UnsafeRawPointer) {}
    func didMake(_ word: UnsafeRawPointer, _ name: String) {}

    func park(until deadline: Int64) -> Bool {
        let player = players[current]
        if !player.hasToken {
            player.wasWoken = false
            player.state = .parked(until: deadline)
            pass(from: player)
        }
        let wasWoken = player.hasToken || player.wasWoken
        player.hasToken = false
        return wasWoken
    }

    func unpark(_ thread: UInt32) {
        step()
        guard let player = players.first(where: { $0.thread == thread && $0.state != .ended }) else { return }
        if case .parked = player.state {
            player.state = .running
            player.wasWoken = true
        } else {
            player.hasToken = true
        }
    }

    private func pass(from player: Player) {
        let next = choose()
        if next === player { return }
        next?.turn.signal()
        // Where no one can go on, for ever.
        player.turn.wait()
    }

    /// Chooses who goes on; nil, with the outcome, if nobody can.
    private func choose() -> Player? {
        let candidates = players.indices.filter { index in
            switch players[index].state {
            case .running: true
            case .parked(let deadline): deadline != .max
            case .ended: false
            }
        }
        guard !candidates.isEmpty && trace.count < 100_000 else {
            let left = players.indices.filter { players[$0].state != .ended }
            outcome = left.isEmpty ? .finished : candidates.isEmpty ? .deadlocked(left) : .endless
            over.signal()
            return nil
        }
        // A little for each step, and now and then more than a lock's patience with those who overtake.
        now += next(32) == 0 ? 1_100_000 : 1_000
        let stays = players[current].state == .running && next(switchesOneIn) != 0
        current = stays ? current : candidates[Int(next(UInt64(candidates.count)))]
        trace.append(current)
        if case .parked(let deadline) = players[current].state {
            now = max(now, deadline)
            players[current].state = .running
        }
        return players[current]
    }

    /// A number below `limit`, from SplitMix64.
    private func next(_ limit: UInt64) -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ (mixed >> 31)) % limit
    }
}
