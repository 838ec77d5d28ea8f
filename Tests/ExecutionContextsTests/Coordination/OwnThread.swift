import Dispatch
import Foundation

/// A thread that runs the jobs of a test, and ends when the test calls `end`.
final class OwnThread: Sendable {
    private let jobs = Box<[@Sendable () -> Void]>([])
    private let submitted = DispatchSemaphore(value: 0)

    init() {
        let thread = Thread { [jobs, submitted] in
            while true {
                submitted.wait()
                guard let job = jobs.withValue({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                    return
                }
                job()
            }
        }
        thread.start()
    }

    /// Runs `body` on the thread and returns when it has run.
    func run(_ body: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        jobs.withValue {
            $0.append {
                body()
                done.signal()
            }
        }
        submitted.signal()
        done.wait()
    }

    /// Lets the thread end; returns at once.
    func end() { submitted.signal() }

    /// Runs `body` on `count` threads at a time and returns when all bodies have returned.
    static func onEach(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let done = DispatchGroup()
        for index in 0..<count {
            done.enter()
            Thread {
                body(index)
                done.leave()
            }.start()
        }
        done.wait()
    }
}

/// Counts the living objects, and the strays: those not freed on the thread that made them.
final class Census: Sendable {
    let living = Box(0)
    let strays = Box(0)
    let deaths = Box(0)
    private let group = DispatchGroup()

    func enter() {
        group.enter()
        living.withValue { $0 += 1 }
    }

    func leave(onItsThread isItsThread: Bool) {
        if !isItsThread { strays.withValue { $0 += 1 } }
        deaths.withValue { $0 += 1 }
        living.withValue { $0 -= 1 }
        group.leave()
    }

    /// Returns when no object lives.
    func waitForAll() { group.wait() }
}

/// An object that a census counts, that stays on one thread, and whose deinit calls `last`.
final class Resident: @unchecked Sendable {
    // Unchecked: the object stays on its thread, which is what the tests check.
    let number: Int
    private let census: Census
    private let thread: pthread_t
    private let last: () -> Void

    init(_ census: Census, number: Int = 0, last: @escaping () -> Void = {}) {
        self.census = census
        self.number = number
        self.last = last
        thread = pthread_self()
        census.enter()
    }

    deinit {
        last()
        census.leave(onItsThread: pthread_equal(thread, pthread_self()) != 0)
    }
}
