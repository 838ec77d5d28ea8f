import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Law 30: the value is reached only inside a closure, under the lock of the resource.
@Suite(.patient)
struct LockedResourceTests {
    /// A lock for a resource, and whether several threads may use it.
    struct Strategy: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (Counts) -> LockedResource<Counts>
        var isForThreads = true

        static let all =
            forThreads + [
                Strategy(
                    testDescription: "unlocked", make: { LockedResource($0, lockedBy: .unlocked) },
                    isForThreads: false)
            ]
        static let forThreads = [
            Strategy(testDescription: "section", make: { LockedResource($0, lockedBy: .section) }),
            Strategy(testDescription: "a section of the user's, writes on a context") {
                LockedResource(
                    $0, lockedBy: .section(CriticalSection(), writesOn: .serial(named: "writes")))
            },
            Strategy(testDescription: "a section, writes on the caller") {
                LockedResource($0, lockedBy: .section(CriticalSection(), writesOn: .immediate))
            },
            Strategy(testDescription: "coordinator") { LockedResource($0, lockedBy: .coordinator) },
            Strategy(testDescription: "a coordinator of the user's") {
                LockedResource($0, lockedBy: .coordinator(ReadWriteCoordinator()))
            },
            Strategy(testDescription: "a lock of the user's") {
                LockedResource($0, lockedBy: PlainLock())
            },
        ]
    }

    /// Two numbers that every write keeps equal.
    struct Counts: Sendable, Equatable {
        var left = 0
        var right = 0
        mutating func increment() {
            left += 1
            right += 1
        }
    }

    @Test(arguments: Strategy.all)
    func `Law 30: calls return values and throw errors, and changes of a throwing write stay`(
        _ strategy: Strategy
    ) {
        let resource = strategy.make(Counts())
        #expect(
            resource.mutate {
                $0.increment(); return $0.left
            } == 1)
        #expect(resource.read { $0.right } == 1)
        do {
            try resource.mutate { counts throws(Wrong) in
                counts.increment()
                throw Wrong.deliberately
            }
        } catch { #expect(error == .deliberately) }
        do {
            _ = try resource.read { counts throws(Wrong) -> Int in throw Wrong.deliberately }
        } catch { #expect(error == .deliberately) }
        // The lock is free after the errors.
        resource.mutate { $0.increment() }
        #expect(resource.read { $0 } == Counts(left: 3, right: 3))
    }

    @Test(arguments: Strategy.all)
    func `Laws 18, 30: reads nest, also with reads of another resource`(_ strategy: Strategy) {
        let (one, other) = (strategy.make(Counts(left: 1)), strategy.make(Counts(left: 2)))
        let sum = one.read { outer in
            one.read { inner in inner.left + outer.left }
                + other.read { $0.left + one.read { $0.left } }
        }
        #expect(sum == 5)
        one.mutate { counts in counts.left += other.read { $0.left } }
        #expect(one.read { $0.left } == 3)
    }

    @Test(arguments: Strategy.all)
    func `Laws 18, 30: writes enqueued inside an access run after it, in order, once`(
        _ strategy: Strategy
    )
        async
    {
        let resource = strategy.make(Counts())
        let done = DispatchGroup()
        let order = Box<[Int]>([])
        let enqueue: @Sendable (Int) -> Void = { number in
            done.enter()
            resource.enqueueWrite { counts in
                counts.increment()
                order.withValue { $0.append(number) }
                done.leave()
            }
        }
        await watched {
            resource.read { counts in
                enqueue(1)
                enqueue(2)
                #expect(counts.left == 0 && resource.read { $0.left } == 0)
            }
            if !strategy.isForThreads { #expect(order.value == [1, 2]) }
            resource.mutate { counts in
                // The first two writes have run, or wait for this one.
                let before = counts.left
                enqueue(3)
                #expect(counts.left == before)
            }
            enqueue(4)
            done.wait()
        }
        #expect(order.value == [1, 2, 3, 4])
        #expect(resource.read { $0 } == Counts(left: 4, right: 4))
    }

    @Test(arguments: Strategy.all)
    func `Law 30: an enqueued write may enqueue another`(_ strategy: Strategy) async {
        let resource = strategy.make(Counts())
        await watched {
            let done = DispatchSemaphore(value: 0)
            @Sendable func next(_ left: Int) {
                resource.enqueueWrite { counts in
                    counts.increment()
                    if left > 1 { next(left - 1) } else { done.signal() }
                }
            }
            next(100)
            done.wait()
        }
        #expect(resource.read { $0.left } == 100)
    }

    @Test(arguments: Strategy.forThreads)
    func `Law 30: six threads lose no update, and no read sees half a write`(_ strategy: Strategy)
        async
    {
        let resource = strategy.make(Counts())
        let perThread = rounds(debug: 1_000, release: 20_000)
        let torn = Box(0)
        await watched {
            let done = DispatchGroup()
            onThreads(6) {
                for round in 0..<perThread {
                    switch round % 10 {
                    case 0: resource.mutate { $0.increment() }
                    case 1:
                        done.enter()
                        resource.enqueueWrite {
                            $0.increment()
                            done.leave()
                        }
                    default: if !resource.read({ $0.left == $0.right }) { torn.add(1) }
                    }
                }
            }
            done.wait()
        }
        #expect(torn.value == 0)
        #expect(resource.read { $0 } == Counts(left: 6 * perThread / 5, right: 6 * perThread / 5))
    }

    @Test func `Laws 17, 30: under a coordinator a read sees the writes enqueued before it`() async
    {
        await watched {
            let resource = LockedResource(0, lockedBy: .coordinator)
            for round in 1...200 {
                resource.enqueueWrite { $0 += 1 }
                let seen = resource.read { $0 }
                #expect(seen == round)
            }
        }
    }

    @Test func `Law 30: reads run side by side under a coordinator, and alone under a section`()
        async
    {
        await watched {
            let shared = LockedResource(0, lockedBy: .coordinator)
            let meeting = DispatchGroup()
            for _ in 0..<2 { meeting.enter() }
            onThreads(2) {
                shared.read { _ in
                    meeting.leave()
                    // Returns only if the other thread reads, too.
                    meeting.wait()
                }
            }
            let section = CriticalSection()
            let exclusive = LockedResource(0, lockedBy: .section(section))
            exclusive.read { _ in #expect(!isFreeElsewhere(section)) }
        }
    }

    @Test func `Law 30: code inside a section changes all resources of that section together`() {
        let section = CriticalSection()
        let from = LockedResource(10, lockedBy: .section(section))
        let to = LockedResource(0, lockedBy: .section(section))
        section.execute {
            from.mutate { $0 -= 3 }
            to.mutate { $0 += 3 }
        }
        #expect(from.read { $0 } == 7 && to.read { $0 } == 3)
    }

    @Test func `Law 30: the value of a resource may be noncopyable or not Sendable`() {
        let token = LockedResource(Token(), lockedBy: .coordinator)
        token.mutate { $0.uses += 1 }
        #expect(token.read { $0.uses } == 1)
        // The cache is sent into the resource. Reads could run side by side, so there are none.
        let cache = LockedResource(Cache(), lockedBy: .section)
        cache.mutate { $0.hits += 1 }
        #expect(cache.mutate { $0.hits } == 1)
    }
}

private struct Token: ~Copyable { var uses = 0 }

private final class Cache { var hits = 0 }

/// A lock as a user might write it: not re-entrant, with enqueued writes on a queue.
struct PlainLock: ResourceLock {
    private let lock = NSLock()
    private let queue = DispatchQueue(label: "writes of a user's lock")

    func read(_ body: () -> Void) { lock.withLock(body) }
    func exclusively(_ body: () -> Void) { lock.withLock(body) }
    func enqueueWrite(_ work: @escaping Work) { queue.async { lock.withLock(work) } }
}
