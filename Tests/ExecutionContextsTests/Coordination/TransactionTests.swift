import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

@Suite(.patient)
struct TransactionTests {
    /// A way to make a transaction. Each access makes its own, as the source does.
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
    func `Law 28: reads see whole transactions, and writes exclude each other and keep their order`(
        _ way: Way
    ) async {
        await offThePool {
            let transaction = way.make()
            let pair = Pair()
            let torn = Box(0)
            let missing = Box(0)
            let each = rounds(debug: 400, release: 1000)
            onThreads(4) { thread in
                var mine = 0
                for index in 0..<each {
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
                    if seen != mine { missing.withValue { $0 += 1 } }
                }
            }
            #expect(torn.value == 0)
            #expect(missing.value == 0)
            #expect(transaction().read(pair.by) == Array(repeating: each / 2, count: 4))
        }
    }

    @Test(arguments: [true, false])
    func `Law 28: on a concurrent context reads run at the same time`(_ isOwn: Bool) async {
        await offThePool {
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let context = BarrierQueueContext(name: "own")
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

    @Test func `Law 28: all transactions and barriers of one queue exclude each other`()
        async
    {
        await offThePool {
            let context = BarrierQueueContext(name: "shared")
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
            // A transaction of the queue sees that its thread is inside the context's barrier.
            let nested = context.syncBarrier { Transaction(queue: context.queue).exclusively { 1 } }
            #expect(nested == 1)
        }
    }

    @Test(arguments: ways)
    func `Law 28: inside a transaction, an access that may run at once does not wait`(
        _ way: Way
    ) async {
        await offThePool {
            let transaction = way.make()
            let other = DispatchQueue(label: "another queue")
            let value = transaction().exclusively {
                transaction().read(
                    other.sync {
                        transaction().exclusively { transaction().read { transaction().read(5) } }
                    })
            }
            #expect(value == 5)
            #expect(transaction().read { other.sync { transaction().read(6) } } == 6)
            let done = DispatchSemaphore(value: 0)
            transaction().write {
                // A write submitted from inside runs later.
                transaction().write { done.signal() }
                transaction().exclusively { transaction().read { () } }
            }
            done.wait()
        }
    }

    @Test func `Law 28: a job that has its queue to itself gets an exclusive access at once`() async
    {
        await offThePool {
            let queue = DispatchQueue(label: "serial")
            let first = queue.sync { Transaction(queue: queue).exclusively { 1 } }
            let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let alone = concurrent.sync(flags: .barrier) {
                Transaction(queue: concurrent).exclusively { 2 }
            }
            #expect([first, alone] == [1, 2])
        }
    }

    @Test @MainActor func `Law 28: on the main queue from the main actor nothing deadlocks`() async
    {
        for transaction in [Transaction(queue: .main), Transaction(on: .main)] {
            var count = 0
            transaction.exclusively { count += 1 }
            #expect(transaction.read(count) == 1)
            #expect(transaction.exclusively { transaction.read { count + 1 } } == 2)
            await withCheckedContinuation { done in transaction.write { done.resume() } }
            // On another thread it waits for the main queue.
            await offThePool {
                #expect(transaction.read { MainActor.assumeIsolated { 3 } } == 3)
                #expect(transaction.exclusively { MainActor.assumeIsolated { 4 } } == 4)
            }
        }
    }

    @Test(arguments: ways)
    func `Law 28: an access passes on its body's value or error, and ends with either`(_ way: Way)
        async
    {
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

    #if compiler(>=6.3)
    @Test(arguments: ["default", "utility", "background", "interactive"])
    func `Law 28: a transaction on a global queue traps with a message`(_ quality: String)
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            [quality] in
            let qualities: [String: DispatchQoS.QoSClass] = [
                "utility": .utility, "background": .background, "interactive": .userInteractive,
            ]
            _ = Transaction(queue: .global(qos: qualities[quality] ?? .default))
        }
        try expectTrap(result, "com.apple.root", "law 28", "ignores barriers")
    }
    #endif

    @Test func `Laws 18, 28: an exclusive access inside a read traps with a message`()
        async throws
    {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let queue = DispatchQueue(label: "cache", attributes: .concurrent)
            Transaction(queue: queue).read {
                DispatchQueue(label: "other").sync { Transaction(queue: queue).exclusively {} }
            }
        }
        try expectTrap(result, "'cache'", "laws 18, 28")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = BarrierQueueContext(name: "cache")
            Transaction(on: context).read { Transaction(on: context).exclusively {} }
        }
        try expectTrap(result, "'cache'", "law 3")
    }

    @Test func `Law 28: an exclusive access in a job that shares its concurrent queue traps`() async
    {
        await #expect(processExitsWith: .failure) {
            let queue = DispatchQueue(label: "cache", attributes: .concurrent)
            queue.sync { Transaction(queue: queue).exclusively {} }
        }
    }
}

/// Two numbers that are equal between transactions, and the number of changes by each thread.
private final class Pair: @unchecked Sendable {
    // Unchecked: the transactions under test guard it.
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
