import ExecutionContexts
import Foundation

let coordination = Chapter(
    name: "coordination", title: "State that threads share: one at a time, side by side, or each its own"
) {
    let section = CriticalSection()
    let ledger = Ledger()
    await onThreads(4) {
        for _ in 0..<2_500 { section.execute { ledger.add(1) } }
    }
    say("4 threads count to 2,500 each in one section", section.execute { ledger.total })

    // Who waits for a section blocks a thread; the blocking context has threads for that.
    let answer = try await BlockingContext().run {
        section.execute { onAnotherThread { section.execute(timeout: 0.01) { "yes" } ?? "no" } }
    }
    say("another thread enters in time while one is inside", answer)

    let coordinator = ReadWriteCoordinator()
    let board = Board(rows: 16)
    coordinator.enqueueWrite { board.rows[0] = "written" }
    say("a read behind an enqueued write", try await coordinator.readAsync { board.rows[0] })

    // A reader that must wait runs the writes before it: no number of them exhausts the pool (law 20).
    let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
        for row in 0..<16 {
            group.addTask {
                try await GlobalContext().run {
                    coordinator.enqueueWrite { board.rows[row] = "job \(row)" }
                    return coordinator.read { board.rows[row] } == "job \(row)"
                }
            }
        }
        return try await group.reduce(into: 0) { count, sawItsOwn in count += sawItsOwn ? 1 : 0 }
    }
    say("of 16 jobs that write and read back, saw their own", answers)

    let made = Meter()
    let formatter = ThreadLocalValue<NumberFormatter> { _ in
        made.enter()
        return NumberFormatter()
    }
    await onThreads(3) {
        for _ in 0..<100 { _ = formatter.withCurrent { $0?.string(from: 7) } }
    }
    say("formatters made for 3 threads that ask 100 times each", made.total)

    let birds = LockedResource(["wren"], lockedBy: .coordinator)
    birds.enqueueWrite { $0.insert("robin", at: 0) }
    say("a resource that only its lock gives out", birds.read { $0.joined(separator: ", ") })

    let listeners = Registry<@Sendable (String) -> Void>()
    let heard = Log()
    let first = listeners.register { event in heard.add("first: \(event)") }
    let second = listeners.register { event in heard.add("second: \(event)") }
    listeners("up")
    first.deregister()
    listeners("down")
    second.deregister()
    say("two listeners, of whom one leaves", heard.entries.joined(separator: ", "))

    let visits = Visits()
    await onThreads(4) {
        for _ in 0..<1_000 { visits.count += 1 }
    }
    say("4 threads do += 1,000 times each on a property", visits.count)
}

/// Texts without any protection of their own.
private final class Board: @unchecked Sendable {
    // Unchecked: a coordinator keeps its readers and writers apart, which is what the chapter shows.
    var rows: [String]
    init(rows: Int) { self.rows = Array(repeating: "empty", count: rows) }
}

/// A property whose every use is a transaction.
private final class Visits: @unchecked Sendable {
    // Unchecked: the wrapper guards the value; its setter alone keeps the compiler from seeing that.
    @TransactionWrapper(wrappedValue: 0, on: .global.serial())
    var count: Int
}

/// Runs `body` on so many threads at a time, and returns when all have ended.
private func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        let all = DispatchGroup()
        for _ in 0..<count {
            all.enter()
            Thread {
                body()
                all.leave()
            }.start()
        }
        all.notify(queue: .global()) { done.resume() }
    }
}

/// Runs `body` on a thread of its own while the caller waits.
private func onAnotherThread(_ body: @escaping @Sendable () -> String) -> String {
    let answer = Log()
    let done = DispatchSemaphore(value: 0)
    Thread {
        answer.add(body())
        done.signal()
    }.start()
    done.wait()
    return answer.entries[0]
}
