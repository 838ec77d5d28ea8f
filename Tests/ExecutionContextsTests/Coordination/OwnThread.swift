import Dispatch
import Foundation

/// A thread that runs what a test gives it, and ends when the test says so.
final class OwnThread: Sendable {
    private let jobs = Box<[@Sendable () -> Void]>([])
    private let given = DispatchSemaphore(value: 0)

    init() {
        let thread = Thread { [jobs, given] in
            while true {
                given.wait()
                guard let job = jobs.withValue({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
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
        given.signal()
        done.wait()
    }

    /// Lets the thread end; returns at once.
    func end() { given.signal() }

    /// Runs `body` on so many threads at a time; returns when all bodies have, and lets the threads end.
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

/// Counts objects that live, and those that were not freed on the thread that made them.
final class Census: Sendable {
    let living = Box(0)
    let strays = Box(0)
    let deaths = Box(0)
    private let group = DispatchGroup()

    func enter() {
        group.enter()
        living.withValue { $0 += 1 }
    }

    func leave(onItsThread isHome: Bool) {
        if !isHome { strays.withValue { $0 += 1 } }
        deaths.withValue { $0 += 1 }
        living.withValue { $0 -= 1 }
        group.leave()
    }

    /// Returns when none lives.
    func waitForAll() { group.wait() }
}

/// An object that is counted, that stays on one thread, and that does something when it dies.
final class Resident: @unchecked Sendable {
    // Unchecked: it stays on its thread, which is what the tests check.
    let number: Int
    private let census: Census
    private let home: pthread_t
    private let last: () -> Void

    init(_ census: Census, number: Int = 0, last: @escaping () -> Void = {}) {
        self.census = census
        self.number = number
        self.last = last
        home = pthread_self()
        census.enter()
    }

    deinit {
        last()
        census.leave(onItsThread: pthread_equal(home, pthread_self()) != 0)
    }
}
