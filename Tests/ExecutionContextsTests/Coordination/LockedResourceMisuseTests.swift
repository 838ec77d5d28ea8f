import Dispatch
import ExecutionContexts
import Foundation
import Testing

/// What would tear a resource stops the program with a sentence, under every lock.
@Suite(.timeLimit(.minutes(30)))
struct LockedResourceMisuseTests {
    @Test func `Law 18: a write inside a read is refused under a section`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: .section)
            resource.read { _ in resource.write { $0 += 1 } }
        }
        try expectSentence(result, "law 18", "enqueueWrite", "LockedResourceMisuseTests.swift")
    }

    @Test func `Law 18: a write inside a read is refused under a coordinator`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: .coordinator)
            resource.read { _ in resource.read { _ in resource.write { $0 += 1 } } }
        }
        try expectSentence(result, "law 18", "enqueueWrite", "LockedResourceMisuseTests.swift")
    }

    @Test func `Law 18: a write inside a read is refused without a lock, and under a user's`() async throws {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: .unlocked)
            resource.read { _ in resource.write { $0 += 1 } }
        }
        try expectSentence(result, "law 18", "enqueueWrite")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: PlainLock())
            resource.read { _ in resource.write { $0 += 1 } }
        }
        try expectSentence(result, "law 18", "enqueueWrite")
    }

    @Test func `Law 30: a write inside a write is refused, it does not overlap`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: .section)
            resource.write { _ in resource.write { $0 += 1 } }
        }
        try expectSentence(result, "a write inside a write", "law 30", "LockedResourceMisuseTests.swift")
    }

    @Test func `Law 30: a read inside a write is refused, it would see half of it`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: .coordinator)
            resource.write { value in value = resource.read { $0 } + 1 }
        }
        try expectSentence(result, "a read inside a write", "law 30", "LockedResourceMisuseTests.swift")
    }

    @Test func `Law 30: a read inside an enqueued write is refused as well`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: .unlocked)
            resource.enqueueWrite { value in value = resource.read { $0 } + 1 }
        }
        try expectSentence(result, "a read inside a write", "law 30")
    }

    @Test func `Law 30: an access that crosses threads inside another is still inside it`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: .section)
            let elsewhere = GlobalContext().serial("elsewhere")
            resource.read { _ in elsewhere.sync { resource.write { $0 += 1 } } }
        }
        try expectSentence(result, "law 18")
    }

    @Test func `Law 30: two threads at an unlocked resource stop the program, they do not race`() async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
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
        try expectSentence(result, "two threads", "law 30")
    }

    @Test func `Law 30: a lock that does not run an access, or runs it twice, stops the program`()
        async throws
    {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            LockedResource(0, lockedBy: Careless(times: 0)).write { $0 += 1 }
        }
        try expectSentence(result, "Careless", "without having run", "law 30")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            LockedResource(0, lockedBy: Careless(times: 2)).write { $0 += 1 }
        }
        try expectSentence(result, "Careless", "twice", "law 30")
    }

    @Test func `Law 18: a lock that runs an enqueued write inside an access stops the program`() async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let resource = LockedResource(0, lockedBy: Careless(times: 1))
            resource.read { _ in resource.enqueueWrite { $0 += 1 } }
        }
        try expectSentence(result, "Careless", "law 18")
    }
}

/// Runs what it is given so many times, and what is for later at once.
private struct Careless: ResourceLock {
    let times: Int
    func read(_ body: () -> Void) { for _ in 0..<times { body() } }
    func write(_ body: () -> Void) { for _ in 0..<times { body() } }
    func enqueueWrite(_ work: @escaping Work) { work() }
}
