import Dispatch
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
