import CPlatform
import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Law 34: what a forked child that does not call exec may do.
@Suite(.patient)
struct ForkTests {
    /// Runs `body` in a forked child, and exits with success if the child did. With `isWarm` it has
    /// run here, too, where it is harmless: the runtime then has its metadata, and the child does
    /// not wait for a lock of the runtime that another thread held at the fork.
    private static func inChild(isWarm: Bool = true, _ body: () -> Void) {
        if isWarm { for _ in 1...10 { body() } }
        awaitOtherThreads()
        typealias Fork = @convention(c) () -> pid_t
        // By name, since Swift does not import it.
        guard let symbol = unsafe dlsym(nil, "fork") else { fatalError("There is no fork.") }
        // The type is the one that unistd.h declares.
        let child = unsafe unsafeBitCast(symbol, to: Fork.self)()
        if child == 0 {
            // The alarm ends a child that hangs, which is a failure. Dispatch's threads block it.
            var none = sigset_t()
            unsafe sigemptyset(&none)
            unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
            alarm(120)
            body()
            _exit(0)
        }
        var status: CInt = 0
        while unsafe waitpid(child, &status, 0) != child {}
        guard status == 0 else { exit(1) }
        exit(0)
    }

    /// Waits until all other threads sleep, at several looks. None of them has a runtime lock
    /// then. Does nothing on a system that does not tell.
    private static func awaitOtherThreads() {
        let own = "\(ec_thread_handle())"
        var quietLooks = 0
        while quietLooks < 20 {
            let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
            let others = (threads ?? []).filter { $0 != own }.compactMap { Int64($0) }
            let isQuiet = others.allSatisfy { ec_thread_activity($0) == ec_activity_asleep }
            quietLooks = isQuiet ? quietLooks + 1 : 0
            sched_yield()
        }
    }

    /// Starts the library and its threads.
    private static func begin() {
        let done = DispatchSemaphore(value: 0)
        GlobalContext().execute { done.signal() }
        PoolContext().execute { done.signal() }
        done.wait()
        done.wait()
    }

    @Test func `Law 34: in a child, calls that need no other thread work`() async {
        await #expect(processExitsWith: .success) {
            Self.begin()
            let section = CriticalSection()
            let coordinator = ReadWriteCoordinator(writesOn: .immediate)
            coordinator.bringBias()
            Self.inChild {
                var count = 0
                section.execute { section.execute { count += 1 } }
                coordinator.blockingWrite { coordinator.read { count += 1 } }
                coordinator.read { count += 1 }
                let written = Box(0)
                coordinator.enqueueWrite { written.value = 1 }
                ImmediateContext().serial().execute { written.value += 1 }
                guard count == 3, coordinator.read({ written.value }) == 2 else { _exit(2) }
            }
        }
    }

    @Test func `Law 34: in a child, a job for another thread traps with a message`() async throws {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            Self.begin()
            Self.inChild { GlobalContext().execute {} }
        }
        try expectTrap(result, "law 34", "exec")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.begin()
            let queue = SerialQueueContext(name: "books")
            Self.inChild { queue.execute {} }
        }
        try expectTrap(result, "'books'", "law 34")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.begin()
            Self.inChild { PoolContext().execute {} }
        }
        try expectTrap(result, "law 34")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.begin()
            Self.inChild { _ = ImmediateContext().schedule(after: .seconds(1)) {} }
        }
        try expectTrap(result, "law 34")
    }

    @Test
    func
        `Law 34: in a child, entering a section that a parent's thread holds traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            Self.begin()
            let section = CriticalSection()
            let isInside = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                section.execute {
                    isInside.signal()
                    DispatchSemaphore(value: 0).wait()
                }
            }
            isInside.wait()
            Self.inChild(isWarm: false) { section.execute {} }
        }
        try expectTrap(result, "law 34", "forked child")
    }
}
