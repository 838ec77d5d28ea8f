import Dispatch
import ExecutionContexts
import ExecutionContextsTesting

/// Tasks and actors of plain Swift, which a simulation takes from the runtime.
func simulateTasks() {
    let isOver = DispatchSemaphore(value: 0)
    Task {
        let report = await search("tasks", schedules: 500) { _ in
            let counter = Counter()
            let task = Task { try await Task.sleep(for: .seconds(1)) }
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { await counter.add() } }
            }
            task.cancel()
            let (stream, source) = AsyncStream.makeStream(of: Int.self)
            async let sum = stream.reduce(0, +)
            for number in await 0..<counter.count { source.yield(number) }
            source.finish()
            let total = await sum
            precondition(total == 6)
        }
        precondition(report.failure == nil, "\(report)")
        isOver.signal()
    }
    isOver.wait()
}

private actor Counter {
    private(set) var count = 0

    func add() async {
        await Task.yield()
        count += 1
    }
}

/// Actors whose executors are the contexts that they store, made and freed while jobs wait.
func storeContexts() {
    let isOver = DispatchSemaphore(value: 0)
    Task {
        for _ in 0..<200 {
            let queue = SerialQueueContext(name: "queue")
            let contexts: [any ActorBackingContext] = [
                queue, queue.named("named").inlineIfCurrent(), GlobalContext().serial(),
                queue.labeled("label").serial().intercepted { $0() },
                ReadWriteCoordinator().writing,
            ]
            await withTaskGroup { group in
                for context in contexts {
                    let lodger = Lodger(context)
                    for _ in 0..<4 { group.addTask { await lodger.stay() } }
                    let writer = Writer()
                    group.addTask { await writer.stay() }
                }
            }
        }
        isOver.signal()
    }
    isOver.wait()
}

private actor Lodger {
    private let context: any ActorBackingContext
    private var nights = 0
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe context.asUnownedSerialExecutor()
    }

    init(_ context: some ActorBackingContext) { self.context = context }

    func stay() async {
        nights += 1
        // Runs when the last reference elsewhere may be gone.
        Task { depart() }
        await Task.yield()
    }

    private func depart() { nights -= 1 }
}

private actor Writer {
    private let coordinator = ReadWriteCoordinator()
    private var nights = 0
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe coordinator.writing.asUnownedSerialExecutor()
    }

    func stay() { nights += 1 }
}
