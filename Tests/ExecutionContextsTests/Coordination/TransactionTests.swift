import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

@Suite(.timeLimit(.minutes(30)))
struct TransactionTests {
    /// A way to make a transaction, anew for each access as the source does.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable () -> @Sendable () -> Transaction
    }

    static let ways: [Way] =
        ExclusiveSubject.all.map { subject in
            Way(testDescription: subject.testDescription) {
                let context = subject.make()
                return { transaction(on: context) }
            }
        } + [
            Way(testDescription: "a serial queue") {
                let queue = DispatchQueue(label: "serial")
                return { Transaction(queue: queue) }
            },
            Way(testDescription: "a concurrent queue") {
                let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
                return { Transaction(queue: queue) }
            },
        ]

    static func transaction(on context: some SynchronousBarrierContext) -> Transaction {
        Transaction(on: context)
    }

    @Test(arguments: ways)
    func `Law 28: reads see whole transactions only, writes exclude each other and keep their order`(
        _ way: Way
    ) async {
        await offThePool {
            let transaction = way.make()
            let pair = Pair()
            let torn = Box(0)
            let early = Box(0)
            onThreads(4) { thread in
                var mine = 0
                for index in 0..<1000 {
                    switch (index + thread) % 4 {
                    case 0:
                        transaction().write { pair.add(thread) }
                        mine += 1
                    case 1:
                        transaction().exclusively { pair.add(thread) }
                        mine += 1
                    default: break
                    }
                    let (whole, seen) = transaction().read { (pair.isWhole, pair.by[thread]) }
                    if !whole { torn.withValue { $0 += 1 } }
                    // A read sees every write that was submitted before it.
                    if seen != mine { early.withValue { $0 += 1 } }
                }
            }
            #expect(torn.value == 0)
            #expect(early.value == 0)
            #expect(transaction().read(pair.by) == [500, 500, 500, 500])
        }
    }

    @Test(arguments: [true, false])
    func `Law 28: on a concurrent context reads run beside each other`(_ isOwn: Bool) async {
        await offThePool {
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let context = BarrierQueueContext(label: "own")
            let first = DispatchSemaphore(value: 0)
            let second = DispatchSemaphore(value: 0)
            onThreads(2) { thread in
                let transaction = isOwn ? Transaction(on: context) : Transaction(queue: queue)
                transaction.read {
                    (thread == 0 ? first : second).signal()
                    (thread == 0 ? second : first).wait()
                }
            }
        }
    }

    @Test func `Law 28: all ways to one queue exclude each other`()
        async
    {
        await offThePool {
            let context = BarrierQueueContext(label: "shared")
            let pair = Pair()
            onThreads(3) { thread in
                for _ in 0..<2000 {
                    switch thread {
                    case 0: Transaction(on: context).exclusively { pair.add(0) }
                    case 1: Transaction(queue: context.queue).exclusively { pair.add(1) }
                    default: context.syncBarrier { pair.add(2) }
                    }
                }
            }
            #expect(context.sync { pair.by } == [2000, 2000, 2000, 0])
            // One knows that the other is inside.
            let nested = context.syncBarrier { Transaction(queue: context.queue).exclusively { 1 } }
            #expect(nested == 1)
        }
    }

    @Test(arguments: ways)
    func `Law 28: from inside a transaction nothing that may run at once waits`(
        _ way: Way
    ) async {
        await offThePool {
            let transaction = way.make()
            let other = DispatchQueue(label: "another queue")
            let value = transaction().exclusively {
                transaction().read(
                    other.sync { transaction().exclusively { transaction().read { transaction().read(5) } } })
            }
            #expect(value == 5)
            #expect(transaction().read { other.sync { transaction().read(6) } } == 6)
            let done = DispatchSemaphore(value: 0)
            transaction().write {
                // What is submitted from inside runs later.
                transaction().write { done.signal() }
                transaction().exclusively { transaction().read { () } }
            }
            done.wait()
        }
    }

    @Test func `Law 28: work that has its queue to itself gets an exclusive access at once`() async {
        await offThePool {
            let queue = DispatchQueue(label: "serial")
            let first = queue.sync { Transaction(queue: queue).exclusively { 1 } }
            let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let alone = concurrent.sync(flags: .barrier) { Transaction(queue: concurrent).exclusively { 2 } }
            #expect([first, alone] == [1, 2])
        }
    }

    @Test @MainActor func `Law 28: on the main queue from the main actor nothing deadlocks`() async {
        for transaction in [Transaction(queue: .main), Transaction(on: .main)] {
            var count = 0
            transaction.exclusively { count += 1 }
            #expect(transaction.read(count) == 1)
            #expect(transaction.exclusively { transaction.read { count + 1 } } == 2)
            await withCheckedContinuation { done in transaction.write { done.resume() } }
            // From elsewhere it waits for the main queue.
            await offThePool {
                #expect(transaction.read { MainActor.assumeIsolated { 3 } } == 3)
                #expect(transaction.exclusively { MainActor.assumeIsolated { 4 } } == 4)
            }
        }
    }

    @Test(arguments: ways)
    func `Law 28: value and error come through, and an error leaves the context free`(_ way: Way) async {
        struct Failure: Error, Equatable { let number: Int }
        await offThePool {
            let transaction = way.make()()
            #expect(throws: Failure(number: 1)) {
                try transaction.read { () throws(Failure) in throw Failure(number: 1) }
            }
            do throws(Failure) {
                try transaction.exclusively { () throws(Failure) in throw Failure(number: 2) }
            } catch {
                #expect(error == Failure(number: 2))
            }
            #expect(transaction.exclusively { "free" } == "free")
        }
    }

    @Test(arguments: ["default", "utility", "background", "interactive"])
    func `Law 28: a global queue is refused`(_ quality: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [quality] in
            let qualities: [String: DispatchQoS.QoSClass] = [
                "utility": .utility, "background": .background, "interactive": .userInteractive,
            ]
            _ = Transaction(queue: .global(qos: qualities[quality] ?? .default))
        }
        try expectSentence(result, "com.apple.root", "law 28", "ignores barriers")
    }

    @Test func `Laws 18, 28: an exclusive access inside a mere read is refused`()
        async throws
    {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = DispatchQueue(label: "cache", attributes: .concurrent)
            Transaction(queue: queue).read {
                DispatchQueue(label: "other").sync { Transaction(queue: queue).exclusively {} }
            }
        }
        try expectSentence(result, "'cache'", "laws 18, 28")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = BarrierQueueContext(label: "cache")
            Transaction(on: context).read { Transaction(on: context).exclusively {} }
        }
        try expectSentence(result, "'cache'", "law 3")
    }

    @Test func `Law 28: work of a concurrent queue that shares it cannot wait to have it alone`() async {
        await #expect(processExitsWith: .failure) {
            let queue = DispatchQueue(label: "cache", attributes: .concurrent)
            queue.sync { Transaction(queue: queue).exclusively {} }
        }
    }
}

/// Two numbers that are equal between transactions, and who changed them how often.
private final class Pair: @unchecked Sendable {
    // Unchecked: what keeps it right is what is tested.
    private var first = 0
    private var second = 0
    private(set) var by = [0, 0, 0, 0]

    var isWhole: Bool { first == second }

    func add(_ thread: Int) {
        first += 1
        by[thread] += 1
        second += 1
    }
}
