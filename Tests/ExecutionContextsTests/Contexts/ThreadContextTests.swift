import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Contexts with threads of their own, at their limits and at their end.
@Suite(.patient)
struct ThreadContextTests {
    @Test(arguments: [false, true])
    func `A thread that is released on itself runs its queued jobs, then ends`(hasRunLoop: Bool)
        async
    {
        for _ in 0..<20 {
            let count = Box(0)
            await withCheckedContinuation { continuation in
                let context: any ActorBackingContext =
                    hasRunLoop ? RunLoopThreadContext(name: "own") : ThreadContext(name: "own")
                for _ in 0..<50 {
                    context.execute { [context] in
                        _ = context; count.value += 1
                    }
                }
                context.execute { [context] in
                    context.execute { continuation.resume() }
                    count.value += 1
                }
            }
            #expect(count.value == 51)
        }
    }

    /// The thread falls asleep between many of the jobs, and each submission may come at that
    /// moment.
    @Test func `Law 1: no submission is lost while the thread falls asleep`() async {
        let context = ThreadContext(name: "sleepy")
        for round in 0..<2_000 {
            let value = await withCheckedContinuation { continuation in
                context.execute { continuation.resume(returning: round) }
            }
            #expect(value == round)
        }
    }

    @Test func `Laws 2, 3: all jobs run on one thread, each submitter's in their order`() async {
        let context = ThreadContext(name: "one")
        let (last, threads) = (Box([Int: Int]()), Box(Set<ObjectIdentifier>()))
        let strays = Box(0)
        await withTaskGroup { group in
            for submitter in 0..<4 {
                group.addTask {
                    for number in 1...500 {
                        context.execute {
                            if context.isCurrent != true { strays.value += 1 }
                            threads.withValue { _ = $0.insert(ObjectIdentifier(Thread.current)) }
                            let before = last.withValue {
                                $0.updateValue(number, forKey: submitter)
                            }
                            if before ?? 0 != number - 1 { strays.value += 1 }
                        }
                    }
                }
            }
        }
        try? await context.run {}
        #expect(last.value == [0: 500, 1: 500, 2: 500, 3: 500])
        #expect(strays.value == 0 && threads.value.count == 1)
        #expect(context.isCurrent == false)
    }

    @Test func `Law 11: threads of contexts begin fresh, and have no value of one that has ended`()
        async throws
    {
        let local = ThreadLocalValue<Int>()
        for round in 0..<10 {
            let context = ThreadContext(name: "fresh")
            let before = try await context.run {
                defer { local.set(round) }
                return local.value()
            }
            #expect(before == nil)
        }
    }

    @Test func `Law 2: a job that runs the thread's run loop is not interrupted by the next job`()
        async
    {
        let log = Box<[String]>([])
        let context = RunLoopThreadContext(name: "loop")
        await withCheckedContinuation { continuation in
            context.execute {
                log.withValue { $0.append("start") }
                context.execute {
                    log.withValue { $0.append("next") }
                    continuation.resume()
                }
                _ = RunLoop.current.run(mode: .default, before: Date())
                log.withValue { $0.append("end") }
            }
        }
        #expect(log.value == ["start", "end", "next"])
    }

    @Test func `A nested sync enters again a queue that its caller holds through another queue`()
        async
    {
        let count = await withCheckedContinuation { continuation in
            // This blocks, so it must not run on a thread of the cooperative pool.
            DispatchQueue.global().async {
                let serial = SerialQueueContext(name: "serial")
                let barrier = BarrierQueueContext(name: "barrier")
                let first = serial.sync { barrier.sync { serial.sync { 1 } } }
                let second = barrier.syncBarrier {
                    serial.sync { barrier.sync { barrier.syncBarrier { 1 } } }
                }
                continuation.resume(returning: first + second)
            }
        }
        #expect(count == 2)
    }

    @Test func `Law 11: a blocking context never exceeds its limit, also with nested submissions`()
        async
    {
        let context = BlockingContext(limit: 3)
        let state = Box((running: 0, most: 0, done: 0))
        await withCheckedContinuation { continuation in
            for index in 0..<300 {
                context.execute {
                    state.withValue {
                        $0.running += 1
                        $0.most = max($0.most, $0.running)
                    }
                    let finish: Work = {
                        if state.withValue({
                            $0.done += 1; return $0.done == 300
                        }) {
                            continuation.resume()
                        }
                    }
                    index % 3 == 0 ? context.execute(finish) : finish()
                    state.withValue { $0.running -= 1 }
                }
            }
        }
        #expect(state.value.most <= 3)
    }

    @Test
    func `Law 13: an actor on an inline serial view keeps its isolation, whichever context calls`()
        async
    {
        let counter = Counter(on: ImmediateContext().serial())
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<200 { await counter.add(on: .global) } }
            }
        }
        #expect(await counter.value == 1600)
    }
}

private actor Counter {
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }
    private(set) var value = 0

    init(on context: some ActorBackingContext) { executor = context }

    func add(on other: some ExecutionContext) async {
        _ = try? await other.run {}
        assertIsolated()
        value += 1
    }
}
