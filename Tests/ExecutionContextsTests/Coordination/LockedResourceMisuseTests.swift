import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// An access that would overlap with a write traps with a message, under every lock.
@Suite(.patient)
struct LockedResourceMisuseTests {
    @Test func `Law 18: a write inside a read traps under a section`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let resource = LockedResource(0, lockedBy: .section)
            resource.read { _ in resource.mutate { $0 += 1 } }
        }
        try expectTrap(result, "law 18", "enqueueWrite", "LockedResourceMisuseTests.swift")
    }

    @Test func `Law 18: a write inside a read traps under a coordinator`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let resource = LockedResource(0, lockedBy: .coordinator)
            resource.read { _ in resource.read { _ in resource.mutate { $0 += 1 } } }
        }
        try expectTrap(result, "law 18", "enqueueWrite", "LockedResourceMisuseTests.swift")
    }

    @Test func `Law 18: a write inside a read traps without a lock and under a user's lock`()
        async throws
    {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let resource = LockedResource(0, lockedBy: .unlocked)
            resource.read { _ in resource.mutate { $0 += 1 } }
        }
        try expectTrap(result, "law 18", "enqueueWrite")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: PlainLock())
            resource.read { _ in resource.mutate { $0 += 1 } }
        }
        try expectTrap(result, "law 18", "enqueueWrite")
    }

    @Test func `Law 30: a write inside a write traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let resource = LockedResource(0, lockedBy: .section)
            resource.mutate { _ in resource.mutate { $0 += 1 } }
        }
        try expectTrap(
            result, "a write inside a write", "law 30", "LockedResourceMisuseTests.swift")
    }

    @Test func `Law 30: a read inside a write traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let resource = LockedResource(0, lockedBy: .coordinator)
            resource.mutate { value in value = resource.read { $0 } + 1 }
        }
        try expectTrap(result, "a read inside a write", "law 30", "LockedResourceMisuseTests.swift")
    }

    @Test func `Law 30: a read inside an enqueued write traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let resource = LockedResource(0, lockedBy: .unlocked)
            resource.enqueueWrite { value in value = resource.read { $0 } + 1 }
        }
        try expectTrap(result, "a read inside a write", "law 30")
    }

    @Test func `Law 30: a write in a sync inside a read traps, on whichever thread it runs`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let resource = LockedResource(0, lockedBy: .section)
            let elsewhere = GlobalContext().serial(named: "elsewhere")
            resource.read { _ in elsewhere.sync { resource.mutate { $0 += 1 } } }
        }
        try expectTrap(result, "law 18")
    }

    @Test func `Law 30: an access of a second thread to an unlocked resource traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let resource = LockedResource(0, lockedBy: .unlocked)
            resource.read { _ in
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    _ = resource.read { $0 }
                    done.signal()
                }
                done.wait()
            }
        }
        try expectTrap(result, "two threads", "law 30")
    }

    @Test func `Law 30: a lock that does not run an access, or runs it twice, traps`() async throws
    {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            LockedResource(0, lockedBy: Careless(times: 0)).mutate { $0 += 1 }
        }
        try expectTrap(result, "Careless", "without having run", "law 30")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            LockedResource(0, lockedBy: Careless(times: 2)).mutate { $0 += 1 }
        }
        try expectTrap(result, "Careless", "twice", "law 30")
    }

    @Test func `Law 18: a lock that runs an enqueued write inside an access traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let resource = LockedResource(0, lockedBy: Careless(times: 1))
            resource.read { _ in resource.enqueueWrite { $0 += 1 } }
        }
        try expectTrap(result, "Careless", "law 18")
    }
}

/// Runs each access `times` times, and each enqueued write at once.
private struct Careless: ResourceLock {
    let times: Int
    func read(_ body: () -> Void) { for _ in 0..<times { body() } }
    func exclusively(_ body: () -> Void) { for _ in 0..<times { body() } }
    func enqueueWrite(_ work: @escaping Work) { work() }
}
