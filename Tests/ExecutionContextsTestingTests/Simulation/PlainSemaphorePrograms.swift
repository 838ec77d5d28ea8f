import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// Programs over semaphores and groups of Dispatch, unmodified: each with a fault, or without it.
struct SemaphoreProgram: Sendable, CustomStringConvertible {
    let description: String
    /// What the fault shows as.
    let kind: SimulationFailure.Kind
    let body: @Sendable (_ sim: SimulatedWorld, _ isWrong: Bool) -> Void

    init(
        _ description: String, _ kind: SimulationFailure.Kind,
        _ body: @escaping @Sendable (SimulatedWorld, Bool) -> Void
    ) {
        (self.description, self.kind, self.body) = (description, kind, body)
    }

    static let all = buffers + locks + groups

    private static let buffers = [
        SemaphoreProgram("bounded buffer", .deadlock) { sim, isWrong in
            let (space, items) = (DispatchSemaphore(value: 1), DispatchSemaphore(value: 0))
            let (lock, stored) = (DispatchSemaphore(value: 1), Tracked(0, name: "stored"))
            sim.spawn("producer") {
                for _ in 0..<3 {
                    if isWrong { lock.wait() }
                    space.wait()
                    if !isWrong { lock.wait() }
                    stored.value += 1
                    lock.signal()
                    items.signal()
                }
            }
            sim.spawn("consumer") {
                for _ in 0..<3 {
                    items.wait()
                    lock.wait()
                    stored.value -= 1
                    lock.signal()
                    space.signal()
                }
            }
            sim.invariant("not too full") { (0...1).contains(stored.value) }
        },
        SemaphoreProgram("rendezvous", .lostWakeUp) { sim, isWrong in
            let (here, there) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            @Sendable func meet(_ own: DispatchSemaphore, _ other: DispatchSemaphore) {
                if !isWrong { own.signal() }
                other.wait()
                if isWrong { own.signal() }
            }
            sim.spawn("alice") { meet(here, there) }
            sim.spawn("bob") { meet(there, here) }
        },
        SemaphoreProgram("missed signal", .lostWakeUp) { sim, isWrong in
            let (isReady, isWaiting) = (
                Tracked(false, name: "ready"), Tracked(false, name: "waits")
            )
            let signal = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                if !isReady.value {
                    isWaiting.value = true
                    signal.wait()
                }
            }
            sim.spawn("signaller") {
                isReady.value = true
                if !isWrong || isWaiting.value { signal.signal() }
            }
        },
        SemaphoreProgram("timed wait that loses an item", .invariant) { sim, isWrong in
            let (items, lock) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 1))
            let (hasGivenUp, sent) = (Tracked(false, name: "given up"), Tracked(0, name: "sent"))
            let taken = Tracked(0, name: "taken")
            sim.spawn("producer") {
                Thread.sleep(forTimeInterval: 0.01)
                lock.wait()
                if !hasGivenUp.value {
                    sent.value += 1
                    items.signal()
                }
                lock.signal()
            }
            sim.spawn("consumer") {
                if items.wait(timeout: .now() + .milliseconds(10)) == .success {
                    taken.value += 1
                    return
                }
                if !isWrong { lock.wait() }
                hasGivenUp.value = true
                if !isWrong {
                    if items.wait(timeout: .now()) == .success { taken.value += 1 }
                    lock.signal()
                }
            }
            sim.finally("each item is taken") { sent.value == taken.value }
        },
    ]

    private static let locks = [
        SemaphoreProgram("lock that one branch keeps", .lostWakeUp) { sim, isWrong in
            let (lock, count) = (DispatchSemaphore(value: 1), Tracked(0, name: "count"))
            for name in ["alice", "bob", "carol"] {
                sim.spawn(name) {
                    lock.wait()
                    count.value += 1
                    if isWrong && name == "bob" && count.value == 2 { return }
                    lock.signal()
                }
            }
        },
        SemaphoreProgram("check, then act", .invariant) { sim, isWrong in
            let (lock, stock) = (DispatchSemaphore(value: 1), Tracked(1, name: "stock"))
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    lock.wait()
                    let isThere = stock.value > 0
                    if isWrong {
                        lock.signal()
                        lock.wait()
                    }
                    if isThere { stock.value -= 1 }
                    lock.signal()
                }
            }
            sim.finally("sold once") { stock.value >= 0 }
        },
        SemaphoreProgram("two locks in opposite orders", .deadlock) { sim, isWrong in
            let (left, right) = (DispatchSemaphore(value: 1), DispatchSemaphore(value: 1))
            @Sendable func take(_ first: DispatchSemaphore, _ second: DispatchSemaphore) {
                first.wait()
                second.wait()
                second.signal()
                first.signal()
            }
            sim.spawn("alice") { take(left, right) }
            sim.spawn("bob") { isWrong ? take(right, left) : take(left, right) }
        },
        SemaphoreProgram("two permits where one is meant", .dataRace) { sim, isWrong in
            final class Log: @unchecked Sendable {
                // Unchecked: the semaphore guards it.
                @Shared("lines") var lines: [String] = []
            }
            let (log, permits) = (Log(), DispatchSemaphore(value: isWrong ? 2 : 1))
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    permits.wait()
                    log.lines.append(name)
                    permits.signal()
                }
            }
        },
    ]

    private static let groups = [
        SemaphoreProgram("fan-out that is joined too early", .invariant) { sim, isWrong in
            let group = DispatchGroup()
            let parts = (0..<3).map { Tracked(0, name: "part \($0)") }
            let seen = Tracked(3, name: "seen")
            for (number, part) in parts.enumerated() {
                if !isWrong { group.enter() }
                sim.spawn("worker \(number)") {
                    if isWrong { group.enter() }
                    part.value = 1
                    group.leave()
                }
            }
            sim.spawn("joiner") {
                group.wait()
                seen.value = parts.reduce(0) { $0 + $1.value }
            }
            sim.finally("saw all") { seen.value == 3 }
        },
        SemaphoreProgram("leave in one branch only", .lostWakeUp) { sim, isWrong in
            let (group, isCached) = (DispatchGroup(), Tracked(false, name: "cached"))
            for number in 0..<2 {
                group.enter()
                sim.spawn("loader \(number)") {
                    if isCached.value {
                        if !isWrong { group.leave() }
                        return
                    }
                    isCached.value = true
                    group.leave()
                }
            }
            sim.spawn("joiner") { group.wait() }
        },
        SemaphoreProgram("leave before the result", .invariant) { sim, isWrong in
            let (group, result) = (DispatchGroup(), Tracked(0, name: "result"))
            let seen = Tracked(1, name: "seen")
            group.enter()
            sim.spawn("loader") {
                if isWrong { group.leave() }
                result.value = 1
                if !isWrong { group.leave() }
            }
            sim.spawn("joiner") {
                group.wait()
                seen.value = result.value
            }
            sim.finally("saw the result") { seen.value == 1 }
        },
    ]
}
