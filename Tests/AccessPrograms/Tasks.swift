/// A small program of tasks, with a fault and without it; all of them are races.
struct TaskProgram: Sendable {
    let name: String
    private let run: @Sendable (_ isMended: Bool) async -> Void

    init(_ name: String, _ run: @escaping @Sendable (_ isMended: Bool) async -> Void) {
        (self.name, self.run) = (name, run)
    }

    func callAsFunction(isMended: Bool) async { await run(isMended) }
}

private actor Totals {
    // Unsafe: that code outside of the actor reads it is the subject.
    nonisolated(unsafe) private var total = 0
    func add(_ amount: Int) { total += amount }
    var value: Int { total }
    nonisolated var estimate: Int { total }
}

@MainActor private final class Screen {
    // Unsafe: the same.
    nonisolated(unsafe) var lines = Counter()
    func draw() { lines.add() }
}

extension TaskProgram {
    static let all = [
        TaskProgram("a counter of two tasks") { isMended in
            let (counter, guarded) = (Counter(), Guard(isMended))
            async let one: Void = guarded { counter.add() }
            async let other: Void = guarded { counter.add() }
            _ = await (one, other)
        },
        TaskProgram("a property of an actor that is read from outside") { isMended in
            let totals = Totals()
            async let add: Void = totals.add(1)
            if isMended { use(await totals.value) } else { use(totals.estimate) }
            await add
        },
        TaskProgram("a result that follows the resumption") { isMended in
            let result = Counter()
            await withUnsafeContinuation { continuation in
                Task.detached {
                    if isMended { result.add() }
                    continuation.resume()
                    if !isMended { result.add() }
                }
            }
            use(result.count)
        },
        TaskProgram("an element that changes after it was sent") { isMended in
            let (stream, sender) = AsyncStream.makeStream(of: Counter.self)
            async let received: Void = {
                for await counter in stream { use(counter.count) }
            }()
            let counter = Counter()
            if isMended { counter.add() }
            sender.yield(counter)
            if !isMended { counter.add() }
            sender.finish()
            await received
        },
        TaskProgram("a task without a wait") { isMended in
            let counter = Counter()
            let task = Task { counter.add() }
            if isMended { await task.value }
            use(counter.count)
            await task.value
        },
        TaskProgram("the state of a screen beside the main actor") { isMended in
            let screen = Screen()
            async let draw: Void = screen.draw()
            if isMended {
                await MainActor.run { use(screen.lines.count) }
            } else {
                use(screen.lines.count)
            }
            await draw
        },
        TaskProgram("children that share a buffer") { isMended in
            let buffer = UnsafeMutableBufferPointer<Int>.allocate(capacity: 4)
            buffer.initialize(repeating: 0)
            // Unsafe: the children share it.
            nonisolated(unsafe) let all = buffer
            await withTaskGroup(of: Void.self) { group in
                for child in 0..<3 { group.addTask { all[isMended ? child : child / 2] += 1 } }
            }
            buffer.deallocate()
        },
        TaskProgram("a cancellation handler beside its operation") { isMended in
            let (counter, guarded) = (Counter(), Guard(isMended))
            let task = Task {
                await withTaskCancellationHandler {
                    await Task.yield()
                    guarded { counter.add() }
                } onCancel: {
                    guarded { counter.add() }
                }
            }
            task.cancel()
            await task.value
        },
    ]
}
