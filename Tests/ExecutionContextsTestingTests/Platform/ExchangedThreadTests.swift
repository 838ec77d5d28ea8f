#if os(Linux)
import ExecutionContexts
import Foundation
import TestSupport
import Testing

@testable import ExecutionContextsTesting

/// A simulated thread keeps what belongs to a thread, whichever system thread runs it (law 33).
@Suite(.patient)
struct ExchangedThreadTests {
    /// What a program and the libraries under it know of the thread on which they run.
    private struct Identity: Equatable {
        let handle = pthread_self()
        let number = Identity.number()
        let thread = ObjectIdentifier(Thread.current)
        let local = Thread.current.threadDictionary["own"] as? Int
        let error = errno
        let rounding = fegetround()

        /// The number of the thread; the C library is asked, whose function Swift does not import.
        static func number() -> pid_t {
            let function = unsafe dlsym(dlopen(nil, RTLD_NOW), "gettid")
            return unsafe unsafeBitCast(function, to: (@convention(c) () -> pid_t).self)()
        }

        /// The number of the system thread that runs this one, as the kernel has it.
        static var carrier: String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        }
    }

    private struct Changed: Error {
        let from: Identity
        let to: Identity
    }

    /// A variable whose access is under way while other threads run.
    private final class Cell: @unchecked Sendable {
        // Unchecked: one thread uses it.
        var value = 0
    }

    /// Searches three threads that change in their middle; `check` gets a thread's number.
    private func switching(
        _ schedules: Int = rounds(debug: 100, release: 1_000),
        _ check: @escaping @Sendable (Int, () -> Void) throws -> Void
    ) {
        let report = search("threads", schedules: schedules, strategy: .random) { sim in
            for number in 0..<3 {
                sim.spawn("thread \(number)") {
                    try check(number) { for _ in 0..<5 { sim.step() } }
                }
            }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(report.schedules == schedules)
    }

    @Test func `a thread has its number, its locals and its modes after each switch`() {
        // To nearest, up, down; Swift does not import their names.
        #if arch(x86_64)
        let roundings: [Int32] = [0, 0x800, 0x400]
        #else
        let roundings: [Int32] = [0, 0x400_000, 0x800_000]
        #endif
        switching { number, change in
            Thread.current.threadDictionary["own"] = number
            fesetround(roundings[number])
            defer { fesetround(roundings[0]) }
            errno = Int32(number)
            let before = Identity()
            change()
            let after = Identity()
            guard before == after else { throw Changed(from: before, to: after) }
        }
    }

    @Test func `a variable may be accessed while other threads access theirs`() {
        @Sendable func add(to value: inout Int, _ change: () -> Void) {
            change()
            value += 1
        }
        switching { _, change in
            let (outer, inner) = (Cell(), Cell())
            add(to: &outer.value) { add(to: &inner.value, change) }
            precondition((outer.value, inner.value) == (1, 1))
        }
    }

    @Test func `an error, a lock and a local of the library belong to the thread`() {
        let local = ThreadLocalValue<Int>()
        let lock = NSRecursiveLock()
        switching { number, change in
            local.set(number)
            do {
                try lock.withLock {
                    try lock.withLock {
                        change()
                        throw CancellationError()
                    }
                }
            } catch is CancellationError {}
            change()
            precondition(local.cachedValue() == number)
        }
    }

    @Test(.enabled("where the processor and the environment allow it") { SchedulerToken.mayChange })
    func `one system thread runs several simulated ones`() {
        let carriers = Box<Set<String>>([])
        let threads = Box<Set<pid_t>>([])
        switching { _, change in
            change()
            let carrier = Identity.carrier.map { [$0] } ?? []
            carriers.withValue { $0.formUnion(carrier) }
            threads.withValue { _ = $0.insert(Identity.number()) }
        }
        #expect(!carriers.value.isEmpty)
        #expect(threads.value.count >= 3)
        #expect(carriers.value.count < threads.value.count)
    }

    /// Each ends where its own system thread continues it.
    @Test func `no thread is left`() async {
        await #expect(processExitsWith: .success) {
            func count() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }
            let before = try count()
            for _ in 0..<20 {
                let report = search("threads", schedules: 20, strategy: .random) { sim in
                    for number in 0..<10 { sim.spawn("thread \(number)") { sim.step() } }
                }
                precondition(report.failure == nil, "\(report)")
            }
            let deadline = ContinuousClock.now + Patience.event
            // Dispatch may keep some.
            while true {
                let now = try count()
                if now <= before + 9 { break }
                precondition(.now < deadline, "\(now) threads, \(before) before")
                sched_yield()
            }
        }
    }
}
#endif
