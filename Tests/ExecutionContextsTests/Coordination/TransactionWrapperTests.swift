import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

@Suite(.patient)
struct TransactionWrapperTests {
    @Test(arguments: ExclusiveSubject.own + ExclusiveSubject.views)
    func `Law 29: no increment by four threads is lost`(_ subject: ExclusiveSubject) async {
        await offThePool {
            let counter = Tally(subject.make())
            let each = rounds(debug: 2_000, release: 40_000)
            onThreads(4) { _ in for _ in 0..<each { counter.count += 1 } }
            #expect(counter.count == 4 * each)
        }
    }

    @Test(arguments: [true, false])
    func `Law 29: over a caller's queue no change is lost, whichever way it is made`(
        _ isConcurrent: Bool
    ) async {
        await offThePool {
            let queue = DispatchQueue(label: "counter", attributes: isConcurrent ? .concurrent : [])
            let counter = TransactionWrapper(wrappedValue: 0, queue: queue)
            onThreads(4) { _ in
                for index in 0..<4000 {
                    switch index % 3 {
                    case 0: counter.wrappedValue += 1
                    case 1: counter.mutate { $0 += 1 }
                    default: counter.projectedValue.exclusively { counter.wrappedValue += 1 }
                    }
                }
            }
            #expect(counter.wrappedValue == 16_000)
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Law 29: a property may be read on the right of its own change, and inside mutate`(
        _ subject: ExclusiveSubject
    ) async {
        await offThePool {
            let tally = Tally(subject.make())
            tally.count = 5
            tally.count = tally.count + 1
            tally.count += tally.count
            #expect(tally.count == 12)
            // Inside, the property has the value that it had at the start.
            let seen = tally.mutate { value in
                value += tally.count
                return [value, tally.count]
            }
            #expect(seen == [24, 12])
            #expect(tally.count == 24)
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Law 29: a mutate that throws changes nothing, and unlocks the property`(
        _ subject: ExclusiveSubject
    ) async {
        struct Failure: Error {}
        await offThePool {
            let tally = Tally(subject.make())
            tally.log = ["one"]
            #expect(throws: Failure.self) {
                try tally.mutateLog { log throws(Failure) in
                    log.append("two")
                    throw Failure()
                }
            }
            #expect(tally.log == ["one"])
            tally.log.append("three")
            #expect(tally.log == ["one", "three"])
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Law 29: a change in place that throws keeps its effect, and unlocks the property`(
        _ subject: ExclusiveSubject
    ) async {
        struct Failure: Error {}
        @Sendable func fail(_ log: inout [String]) throws {
            log.append("kept")
            throw Failure()
        }
        await offThePool {
            let tally = Tally(subject.make())
            #expect(throws: Failure.self) { try fail(&tally.log) }
            onThreads(2) { _ in tally.log.append("thread") }
            #expect(tally.log == ["kept", "thread", "thread"])
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Law 29: swapping two properties is one access, on one context and on two`(
        _ subject: ExclusiveSubject
    ) async {
        await offThePool {
            let context = subject.make()
            let (first, second, elsewhere) = (Tally(context), Tally(context), Tally(subject.make()))
            (first.count, second.count, elsewhere.count) = (1, 2, 3)
            swap(&first.count, &second.count)
            #expect([first.count, second.count] == [2, 1])
            swap(&first.count, &elsewhere.count)
            #expect([first.count, elsewhere.count] == [3, 2])
            // On one context also from many threads, and in both orders.
            onThreads(4) { thread in
                for _ in 0..<501 {
                    if thread.isMultiple(of: 2) {
                        swap(&first.count, &second.count)
                    } else {
                        swap(&second.count, &first.count)
                    }
                }
            }
            #expect([first.count, second.count] == [3, 1])
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Laws 28, 29: a reader sees several changes as one transaction`(
        _ subject: ExclusiveSubject
    ) async {
        await offThePool {
            let tally = Tally(subject.make())
            let torn = Box(0)
            onThreads(4) { thread in
                for _ in 0..<500 {
                    if thread < 2 {
                        tally.change()
                    } else if !tally.isWhole {
                        torn.withValue { $0 += 1 }
                    }
                }
            }
            #expect(torn.value == 0)
            #expect(tally.count == 1000)
            #expect(tally.log.count == 1000)
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Law 29: a change that spans an await excludes other accesses until it ends`(
        _ subject: ExclusiveSubject
    ) async {
        let tally = Tally(subject.make())
        let host = Host()
        func slowly(_ count: inout Int, before: Work) async {
            count += 1
            before()
            await host.visit()
            count += 1
        }
        let seen = Box(0)
        let done = DispatchSemaphore(value: 0)
        await slowly(&tally.count) {
            DispatchQueue(label: "another").async {
                seen.value = tally.count
                done.signal()
            }
        }
        await offThePool { done.wait() }
        #expect(seen.value == 2)
    }

    @Test @MainActor func `Laws 28, 29: the main actor changes a property on the main queue`() async
    {
        let tally = Tally(.main)
        tally.count += 1
        tally.count = tally.count + 1
        tally.mutate { $0 += tally.count }
        #expect(tally.count == 4)
        await offThePool { tally.count += 1 }
        #expect(tally.count == 5)
    }

    @Test
    func `Law 9: a replaced value is released after the transaction, and may use the property`()
        async
    {
        await offThePool {
            let property = TransactionWrapper<Ending?>(
                wrappedValue: nil, on: BarrierQueueContext(name: "values"))
            let seen = Box<[Bool]>([])
            func ending() -> Ending {
                Ending {
                    let isFree = Box(false)
                    // Another thread enters, so the transaction has ended.
                    onThreads(1) { _ in isFree.value = property.wrappedValue == nil }
                    seen.withValue { $0.append(isFree.value) }
                }
            }
            property.wrappedValue = ending()
            property.wrappedValue = nil
            property.wrappedValue = ending()
            property.mutate { $0 = nil }
            #expect(seen.value == [true, true])
        }
    }

    @Test func `Law 10: the value is released with the property`() {
        let ended = Box(0)
        for _ in 0..<3 {
            let property = TransactionWrapper(
                wrappedValue: Ending { ended.withValue { $0 += 1 } }, on: GlobalContext().serial())
            property.wrappedValue = Ending { ended.withValue { $0 += 1 } }
        }
        #expect(ended.value == 6)
    }

    @Test func `Law 29: a sendable class can have the wrapper as a constant`() async {
        final class Counter: Sendable {
            private let count = TransactionWrapper(wrappedValue: 0, on: GlobalContext().serial())
            func increment() { count.wrappedValue += 1 }
            var value: Int { count.wrappedValue }
        }
        await offThePool {
            let counter = Counter()
            onThreads(4) { _ in for _ in 0..<1000 { counter.increment() } }
            #expect(counter.value == 4000)
        }
    }

    @Test func `Law 29: an access in the middle of a change traps with a message`() async throws {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let property = TransactionWrapper(wrappedValue: 0, on: .serial(named: "stock"))
            property.mutate { _ in property.wrappedValue = 1 }
        }
        try expectTrap(result, "'stock'", "law 29", "was changed")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let sum = TransactionWrapper(wrappedValue: 0, on: GlobalContext().serial(named: "shop"))
            func add(_ value: inout Int) { value += sum.wrappedValue }
            add(&sum.wrappedValue)
        }
        try expectTrap(result, "'shop'", "law 29", "was read")
    }

    @Test
    func `Laws 28, 29: an access during a suspended change on the main actor traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            @MainActor func suspended() async {
                let property = TransactionWrapper(wrappedValue: 0, on: .main)
                func slowly(_ value: inout Int) async {
                    value += 1
                    await Task { @MainActor in property.wrappedValue += 1 }.value
                }
                await slowly(&property.wrappedValue)
            }
            await suspended()
        }
        try expectTrap(result, "'main'", "law 29")
    }

    @Test func `Law 28: a property on a global queue traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = TransactionWrapper(wrappedValue: 0, queue: .global())
        }
        try expectTrap(result, "law 28")
    }
}

/// Two properties on one context.
private final class Tally: @unchecked Sendable {
    // Unchecked: both properties guard themselves. To the compiler, wrapped properties are
    // variables.
    @TransactionWrapper var count: Int
    @TransactionWrapper var log: [String]

    init(_ context: some SynchronousBarrierContext) {
        _count = TransactionWrapper(wrappedValue: 0, on: context)
        _log = TransactionWrapper(wrappedValue: [], on: context)
    }

    func mutate<Result>(_ body: (inout Int) -> Result) -> Result { _count.mutate(body) }

    func mutateLog<E: Error>(_ body: (inout [String]) throws(E) -> Void) throws(E) {
        try _log.mutate(body)
    }

    func change() {
        $count.exclusively {
            count += 1
            log.append("change")
        }
    }

    var isWhole: Bool { $count.read { count == log.count } }
}

/// Runs an action in its deinit.
private final class Ending: Sendable {
    private let action: Work
    init(_ action: @escaping Work) { self.action = action }
    deinit { action() }
}
