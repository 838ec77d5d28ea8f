import ExecutionContexts
import Foundation

let coordination = Chapter(
    name: "coordination",
    title: "Shared state: critical sections, coordinators, thread-local values"
) {
    let section = CriticalSection()
    let ledger = Ledger()
    await onThreads(4) {
        for _ in 0..<2_500 { section.execute { ledger.add(1) } }
    }
    say("4 threads add 1, 2,500 times each, in one section", section.execute { ledger.total })

    // A caller that waits for a section blocks its thread. The blocking context has threads
    // for that.
    let answer = try await BlockingContext().run {
        section.execute {
            onAnotherThread { section.execute(timeout: .seconds(0.01)) { "yes" } ?? "no" }
        }
    }
    say("a second thread enters an occupied section in 10 ms", answer)

    let coordinator = ReadWriteCoordinator()
    let board = Board(rows: 16)
    coordinator.enqueueWrite { board.rows[0] = "written" }
    say("a read after an enqueued write", try await coordinator.readAsync { board.rows[0] })

    // A reader that must wait runs the writes queued before it, so waiting readers cannot
    // exhaust the pool (law 20).
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
    say("of 16 jobs that write and read back, read their own", answers)

    let made = Meter()
    let formatter = ThreadLocalValue<NumberFormatter> { _ in
        made.enter()
        return NumberFormatter()
    }
    await onThreads(3) {
        for _ in 0..<100 { _ = formatter.withCurrent { $0?.string(from: 7) } }
    }
    say("formatters made for 3 threads, with 100 uses each", made.total)

    let birds = LockedResource(["wren"], lockedBy: .coordinator)
    birds.enqueueWrite { $0.insert("robin", at: 0) }
    say(
        "a resource that is reachable only under its lock",
        birds.read { $0.joined(separator: ", ") })

    let listeners = Registry<@Sendable (String) -> Void>()
    let received = Log()
    let first = listeners.register { event in received.add("first: \(event)") }
    let second = listeners.register { event in received.add("second: \(event)") }
    listeners("up")
    first.deregister()
    listeners("down")
    second.deregister()
    say("two listeners, one of which deregisters", received.entries.joined(separator: ", "))

    let visits = Visits()
    await onThreads(4) {
        for _ in 0..<1_000 { visits.count += 1 }
    }
    say("4 threads do += 1, 1,000 times each, on a property", visits.count)
}

/// Rows of text, without synchronization of their own.
private final class Board: @unchecked Sendable {
    // Unchecked: the coordinator excludes readers and writers, as the chapter shows.
    var rows: [String]
    init(rows: Int) { self.rows = Array(repeating: "empty", count: rows) }
}

/// A property. Each access is a transaction.
private final class Visits: @unchecked Sendable {
    // Unchecked: the wrapper guards the value, but the compiler sees a mutable property.
    @TransactionWrapper(wrappedValue: 0, on: .global.serial())
    var count: Int
}

/// Runs `body` on `count` threads at once, and returns when all have ended.
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

/// Runs `body` on a new thread while the caller blocks.
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
