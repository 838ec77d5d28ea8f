import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Laws 14 and 15 in races: deadline and exit, wake-up and timeout, repeated entry and waiting.
@Suite(.serialized, .patient)
struct CriticalSectionRaceTests {
    @Test func `Law 15: a timed waiter either enters or gives up, whenever the lock owner leaves`()
        async
    {
        let section = CriticalSection()
        let ran = Box(0)
        let successes = Box(0)
        let attempts = rounds(debug: 800, release: 8_000)
        await watched {
            for round in 0..<attempts {
                let limit = Duration.microseconds(50 + round % 7 * 20)
                let isTaken = DispatchSemaphore(value: 0)
                onThreads([
                    {
                        section.execute {
                            isTaken.signal()
                            // The exit is shortly before, at or shortly after the deadline.
                            busy(for: limit + .microseconds(round % 41 - 20))
                        }
                    },
                    {
                        isTaken.wait()
                        let start = SystemTime.shared.now
                        let success = section.execute(timeout: limit) { ran.add(1) } != nil
                        if success { successes.add(1) } else { expectNotEarly(start, limit) }
                    },
                ])
                // The section is free: a waiter that gave up has not taken it.
                let isFree = section.executeWithTimeout(0) {}
                #expect(isFree, "round \(round)")
            }
        }
        #expect(ran.value == successes.value)
    }

    @Test func `Law 15: a waiter that gives up while its wake-up is pending wakes the next waiter`()
        async
    {
        let section = CriticalSection()
        let (ran, successes) = (Box(0), Box(0))
        let attempts = rounds(debug: 500, release: 4_000)
        await watched {
            for round in 0..<attempts {
                let limit = Duration.microseconds(60 + round % 5 * 30)
                let isTaken = DispatchGroup()
                isTaken.enter()
                let timed: @Sendable () -> Void = {
                    isTaken.wait()
                    if section.execute(timeout: limit, { ran.add(1) }) != nil { successes.add(1) }
                }
                let untimed: @Sendable () -> Void = {
                    isTaken.wait()
                    section.execute { ran.add(1) }
                    successes.add(1)
                }
                let owner: @Sendable () -> Void = {
                    section.execute {
                        isTaken.leave()
                        busy(for: limit + .microseconds(round % 31))
                    }
                }
                // Ends only if the waiters without a limit are woken.
                onThreads([owner, timed, untimed, timed, untimed])
            }
        }
        #expect(ran.value == successes.value)
        #expect(ran.value >= 2 * attempts)
    }

    @Test func `Law 14: a thread gets in while two others enter again and again`() async {
        await watched {
            let section = CriticalSection()
            let isDone = Box(false)
            let hammer: @Sendable () -> Void = {
                // The section is taken most of the time. Without a hand-over, a waiter that
                // wakes would hardly ever find it free.
                while !isDone.value {
                    section.execute { busy(for: .microseconds(20)) }
                }
            }
            let contender: @Sendable () -> Void = {
                for _ in 0..<50 { section.execute {} }
                isDone.value = true
            }
            onThreads([hammer, hammer, contender])
        }
    }

    @Test func `Law 14: threads that give up again and again do not starve another waiter`() async {
        await watched {
            let section = CriticalSection()
            let isDone = Box(false)
            let timed: @Sendable () -> Void = {
                while !isDone.value {
                    _ = section.executeWithTimeout(50e-6) { busy(for: .microseconds(100)) }
                }
            }
            let contender: @Sendable () -> Void = {
                for _ in 0..<50 { section.execute {} }
                isDone.value = true
            }
            onThreads([timed, timed, timed, contender])
        }
    }

    @Test func `Law 14: an object read inside stays alive if another thread replaces it at once`()
        async
    {
        let section = CriticalSection()
        // Unchecked by the compiler, guarded by the section.
        nonisolated(unsafe) var current = Witness()
        let dead = Box(0)
        let count = rounds(debug: 20_000, release: 400_000)
        await watched {
            let read: @Sendable () -> Void = {
                for _ in 0..<count {
                    // Inside, the object is retained. A retain after the exit could be too late.
                    let witness = section.execute { unsafe current }
                    if !witness.isAlive { dead.add(1) }
                }
            }
            let replace: @Sendable () -> Void = {
                for _ in 0..<count { section.execute { unsafe current = Witness() } }
            }
            onThreads([read, replace, read, replace])
        }
        #expect(dead.value == 0)
    }

    @Test func `Law 10: a section may be released as soon as the last thread has left it`() async {
        await watched {
            for _ in 0..<rounds(debug: 200, release: 2_000) {
                let section = CriticalSection()
                onThreads(3) { section.execute {} }
            }
        }
    }
}

/// Spins for `duration`.
private func busy(for duration: Duration) {
    let end = SystemTime.shared.now.advanced(by: duration)
    while SystemTime.shared.now < end {}
}

/// Reports whether it has been freed.
private final class Witness: @unchecked Sendable {
    // Unchecked: changed only in `deinit`, when no thread should have a reference.
    private(set) var isAlive = true
    private let ballast = [1, 2, 3]
    deinit { isAlive = false }
}
