import Dispatch
import ExecutionContexts
import Foundation
import Testing

/// Laws 14 and 15 where moments meet: deadlines and releases, wake-ups and giving up, hammering and waiting.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct CriticalSectionRaceTests {
    @Test func `Law 15: of ran and gave up there is exactly one, whenever the holder leaves`() async {
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
                            // A little before the deadline, at it, a little after it.
                            busy(for: limit + .microseconds(round % 41 - 20))
                        }
                    },
                    {
                        isTaken.wait()
                        let start = SystemTime.shared.now
                        let success = section.executeWithTimeout(limit) { ran.add(1) }
                        if success { successes.add(1) } else { expectNotEarly(start, limit) }
                    },
                ])
                // Nobody is inside, and the section has not been lost to one who gave up.
                let isFree = section.executeWithTimeout(0) {}
                #expect(isFree, "round \(round)")
            }
        }
        #expect(ran.value == successes.value)
    }

    @Test func `Law 15: one that gives up with a wake-up on its way passes it on`() async {
        let section = CriticalSection()
        let (ran, successes) = (Box(0), Box(0))
        let attempts = rounds(debug: 500, release: 4_000)
        await watched {
            for round in 0..<attempts {
                let limit = Duration.microseconds(60 + round % 5 * 30)
                let isTaken = DispatchGroup()
                isTaken.enter()
                let impatient: @Sendable () -> Void = {
                    isTaken.wait()
                    if section.executeWithTimeout(limit, { ran.add(1) }) { successes.add(1) }
                }
                let patient: @Sendable () -> Void = {
                    isTaken.wait()
                    section.execute { ran.add(1) }
                    successes.add(1)
                }
                let holder: @Sendable () -> Void = {
                    section.execute {
                        isTaken.leave()
                        busy(for: limit + .microseconds(round % 31))
                    }
                }
                // Ends only if the patient ones are woken.
                onThreads([holder, impatient, patient, impatient, patient])
            }
        }
        #expect(ran.value == successes.value)
        #expect(ran.value >= 2 * attempts)
    }

    @Test func `Law 14: one that wants in gets in while two others hammer for as long as it takes`() async {
        await watched {
            let section = CriticalSection()
            let isDone = Box(false)
            let hammer: @Sendable () -> Void = {
                // Most of the time inside: without a hand-over a sleeper would hardly ever find it free.
                while !isDone.value {
                    section.execute { busy(for: .microseconds(20)) }
                }
            }
            let guest: @Sendable () -> Void = {
                for _ in 0..<50 { section.execute {} }
                isDone.value = true
            }
            onThreads([hammer, hammer, guest])
        }
    }

    @Test func `Law 14: a thread that gives up over and over takes nobody's turn`() async {
        await watched {
            let section = CriticalSection()
            let isDone = Box(false)
            let impatient: @Sendable () -> Void = {
                while !isDone.value {
                    _ = section.executeWithTimeout(50e-6) { busy(for: .microseconds(100)) }
                }
            }
            let guest: @Sendable () -> Void = {
                for _ in 0..<50 { section.execute {} }
                isDone.value = true
            }
            onThreads([impatient, impatient, impatient, guest])
        }
    }

    @Test func `Law 14: what is read inside stays alive when another thread replaces it at once`() async {
        let section = CriticalSection()
        // Unchecked by the compiler, guarded by the section.
        nonisolated(unsafe) var current = Witness()
        let dead = Box(0)
        let count = rounds(debug: 20_000, release: 400_000)
        await watched {
            let read: @Sendable () -> Void = {
                for _ in 0..<count {
                    // The reference is counted inside; if that came after the release, the object could be gone.
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

    @Test func `Law 10: a section may go as soon as the last one has left it`() async {
        await watched {
            for _ in 0..<rounds(debug: 200, release: 2_000) {
                let section = CriticalSection()
                onThreads(3) { section.execute {} }
            }
        }
    }
}

/// Keeps the processor for so long.
private func busy(for duration: Duration) {
    let end = SystemTime.shared.now.advanced(by: duration)
    while SystemTime.shared.now < end {}
}

/// Says whether it is still there.
private final class Witness: @unchecked Sendable {
    // Unchecked: changed at the end only, when nobody should be looking.
    private(set) var isAlive = true
    private let ballast = [1, 2, 3]
    deinit { isAlive = false }
}
