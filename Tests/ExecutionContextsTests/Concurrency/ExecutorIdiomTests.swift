import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import TestSupport
import Testing

/// An actor that stores its context, and hands out its executor by
/// `context.asUnownedSerialExecutor()`, as code does with a `DispatchSerialQueue`.
@Suite(.patient)
struct ExecutorIdiomTests {
    private static let kinds: [Kind] = [
        Kind("a queue") { SerialQueueContext(name: "queue") },
        Kind("main") { MainContext() },
        Kind("a thread") { ThreadContext(name: "thread") },
        Kind("a thread with a run loop") { RunLoopThreadContext(name: "thread") },
        Kind("a serial view") { GlobalContext().serial() },
        Kind("a view of one") {
            WorkerPool(width: 1).serial().named("named").labeled("label").inlineIfCurrent()
        },
        Kind("a watched and observed queue") {
            SerialQueueContext(name: "queue").observed(by: Recorder(capacity: 64))
                .watched(limit: .seconds(600)) { _ in }.intercepted { $0() }
        },
        Kind("a barrier view of a queue") { SerialQueueContext(name: "queue").barrier() },
        Kind("a coordinator's writes") { ReadWriteCoordinator().writing },
        Kind("a stored view") {
            let stored: any ActorBackingContext = SerialQueueContext(name: "queue")
            return stored.with(.named("stored"))
        },
        Kind("recorded") { RecordingContext(SerialQueueContext(name: "queue")) },
    ]

    @Test(arguments: kinds)
    private func `Law 13: an actor that stores its context keeps its executor`(_ kind: Kind) async {
        weak var context: (any ActorBackingContext)?
        do {
            let made = kind.make()
            context = made
            let store = Store(on: made)
            await withTaskGroup { group in
                for _ in 0..<10 {
                    group.addTask {
                        for _ in 0..<rounds(debug: 20, release: 500) { await store.add() }
                    }
                }
            }
            #expect(await store.count == 10 * rounds(debug: 20, release: 500))
            #expect(await store.isOnContext)
        }
        // The context keeps nothing of the actor, and is freed with it: no cycle.
        // The last job may be freed a little later, where it ran.
        while kind.name != "main", context != nil { await Task.yield() }
    }

    @Test(arguments: kinds)
    private func `Law 13: no job of an actor runs in the middle of another one`(_ kind: Kind) async
    {
        let account = Account(on: kind.make())
        #expect(await account.isUndisturbed())
        // A chain of tasks of the actor does not nest.
        await account.count(rounds(debug: 20_000, release: 200_000))
    }

    @Test(arguments: kinds)
    private func `Law 13: no part of a task runs in the middle of another one`(_ kind: Kind) async {
        let executor = kind.make().taskExecutor
        let wasAlone = Box(false)
        await Task(executorPreference: executor) {
            let other = Box(false)
            let task = Task(executorPreference: executor) { other.value = true }
            wasAlone.value = !other.value
            await task.value
        }.value
        #expect(wasAlone.value)
    }

    @Test func `Law 13: an actor that stores its coordinator keeps the executor of its writes`()
        async
    {
        let ledger = Ledger()
        for _ in 0..<100 { await ledger.add() }
        let isAlone = ledger.coordinator.read { ledger.coordinator.writing.isCurrent == false }
        #expect(await ledger.count == 100 && isAlone)
    }

    @Test func `Law 13: an ending context serves an actor that stores it, also after its end`()
        async
    {
        let context = EndingSerialContext(on: .global)
        let store = EndingStore(on: context)
        await store.add()
        context.shutDown()
        await store.add()
        #expect(await store.count == 2)
    }

    private struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable () -> any ActorBackingContext

        init(_ name: String, _ make: @escaping @Sendable () -> any ActorBackingContext) {
            (self.name, self.make) = (name, make)
        }

        var testDescription: String { name }
    }

    private actor Account {
        private let context: any ActorBackingContext
        private var balance = 100
        private var links = 0
        private var end: CheckedContinuation<Void, Never>?
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe context.asUnownedSerialExecutor()
        }

        init(on context: some ActorBackingContext) { self.context = context }

        private func clear() { balance = 0 }

        func isUndisturbed() -> Bool {
            Task { clear() }
            return balance == 100
        }

        func count(_ links: Int) async {
            self.links = links
            await withCheckedContinuation { continuation in
                end = continuation
                next()
            }
        }

        private func next() {
            links -= 1
            if links == 0 { return end.take()?.resume() ?? () }
            Task { next() }
        }
    }

    private actor Store {
        private let context: any ActorBackingContext
        private(set) var count = 0
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe context.asUnownedSerialExecutor()
        }

        init(on context: some ActorBackingContext) { self.context = context }

        var isOnContext: Bool { context.isCurrent == true }

        func add() async {
            let before = count
            count += 1
            precondition(count == before + 1)
            await Task.yield()
        }
    }

    private actor Ledger {
        let coordinator = ReadWriteCoordinator()
        private(set) var count = 0
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe coordinator.writing.asUnownedSerialExecutor()
        }

        func add() { count += 1 }
    }

    private actor EndingStore {
        private let context: EndingSerialContext
        private(set) var count = 0
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe context.asUnownedSerialExecutor()
        }

        init(on context: EndingSerialContext) { self.context = context }

        func add() { count += 1 }
    }
}
