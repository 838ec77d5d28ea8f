#if os(Linux)
import ExecutionContexts
import Foundation
import Synchronization
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
            // Unsafe: the C library declares it with this type.
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

    @Test(.systemIsSimulated)
    func `an error, a lock and a local of the library belong to the thread`() {
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

    private final class Guarded: Sendable {
        let count = Mutex(0)

        func add(_ change: () -> Void) {
            count.withLock {
                change()
                $0 += 1
            }
        }
    }

    /// A refused try marks the mutex, so that its owner has to ask the kernel to release it.
    @Test(.systemIsSimulated) func `a mutex is released though another thread was refused`() {
        switching { [guarded = Guarded()] _, change in
            guarded.add(change)
            _ = guarded.count.withLockIfAvailable { $0 += 1 }
            change()
            guarded.add(change)
        }
    }

    @Test(.systemIsSimulated) func `a mutex is shared with a thread outside`() {
        let (guarded, isOver, ended) = (Guarded(), Box(false), Signal())
        Thread.detachNewThread {
            while !isOver.value { guarded.add { sched_yield() } }
            ended.happen()
        }
        let report = search(
            "shared", schedules: rounds(debug: 100, release: 1_000), strategy: .random,
            patience: Patience.step, ignoring: [.nondeterminism, .foreign]
        ) { sim in
            for number in 0..<2 {
                sim.spawn("thread \(number)") { for _ in 0..<3 { guarded.add { sim.step() } } }
            }
        }
        isOver.value = true
        ended.wait()
        #expect(report.failure == nil, "\(report)")
    }

    @Test(.systemIsSimulated) func `a lock that inherits priorities belongs to the thread`() {
        switching { [lock = InheritingLock()] _, change in
            lock.lock()
            change()
            lock.unlock()
            if lock.tryLock() { lock.unlock() }
            change()
        }
    }

    /// A lock of the system whose owner gets the priority of those that wait.
    @safe private final class InheritingLock: @unchecked Sendable {
        // Unchecked: the system's functions change the lock.
        private let system = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init() {
            let inherits: Int32 = 1
            var attributes = pthread_mutexattr_t()
            unsafe pthread_mutexattr_init(&attributes)
            unsafe pthread_mutexattr_setprotocol(&attributes, inherits)
            unsafe pthread_mutex_init(system, &attributes)
        }

        func lock() { unsafe precondition(pthread_mutex_lock(system) == 0) }
        func tryLock() -> Bool { unsafe pthread_mutex_trylock(system) == 0 }
        func unlock() { unsafe precondition(pthread_mutex_unlock(system) == 0) }
    }

    private static func blocksSignal() -> Bool {
        var mask = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        return unsafe sigismember(&mask, SIGUSR2) == 1
    }

    private static func setBlocksSignal(_ blocks: Bool) {
        var one = sigset_t()
        unsafe sigaddset(&one, SIGUSR2)
        unsafe pthread_sigmask(blocks ? SIG_BLOCK : SIG_UNBLOCK, &one, nil)
    }

    /// Also where a thread begins after another one has changed its own. Threads of Dispatch block
    /// most signals, and so may the search's.
    @Test(.enabled("where the processor and the environment allow it") { SchedulerToken.mayChange })
    func `signals that a thread blocks, and its name, are its own`() {
        let usual = Box<Bool?>(nil)
        switching { number, change in
            let before = Self.blocksSignal()
            if usual.value == nil { usual.value = before }
            precondition(before == usual.value)
            if number == 0 { Self.setBlocksSignal(!before) }
            for _ in 0..<5 {
                change()
                precondition(Self.blocksSignal() == (before != (number == 0)))
            }
            if number == 0 { Self.setBlocksSignal(before) }
            Thread.current.name = "thread \(number)"
            change()
            precondition(Thread.current.name == "thread \(number)")
        }
    }

    @Test(.enabled("where the processor and the environment allow it") { SchedulerToken.mayChange })
    func `one system thread runs several simulated ones`() {
        let count = Box(0)
        switching { _, change in
            change()
            let own = String(Identity.number())
            if let carrier = Identity.carrier, !carrier.hasSuffix("/" + own) { count.value += 1 }
        }
        #expect(count.value > 0)
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
