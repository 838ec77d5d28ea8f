import AsyncFunctions
import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

// The snippets of the post on execution contexts for futures, with current names. What the post
// leaves out between them is added here: the view controller, the data source, ends of functions.

@Suite(.patient)
struct Futures004Tests {
    @Test
    func `Law 25: without a context the snippet's callback runs where the operation completes`()
        async
    {
        let controller = ViewController()
        await withCheckedContinuation { continuation in
            controller.tableView.onReload = { continuation.resume() }
            controller.showBirdsWhereverTheyArrive()
        }
        #expect(!controller.tableView.wasReloadedOnMain)
        #expect(try! controller.birds!.get() == ["robin", "wren"])
    }

    @Test func `Law 25: with the main context the snippet's callback runs on main`() async {
        let controller = ViewController()
        await withCheckedContinuation { continuation in
            controller.tableView.onReload = { continuation.resume() }
            controller.showBirds()
        }
        #expect(controller.tableView.wasReloadedOnMain)
        #expect(try! controller.birds!.get() == ["robin", "wren"])
    }

    @Test func `The snippet's contexts, made of queues and closures, are contexts of the library`()
        async
    {
        let MainExecutionContext = DispatchQueue.main.context
        let ImmediateExecutionContext: any ExecutionContext = .closure { $0() }

        let ran = Lines()
        ImmediateExecutionContext { ran.add("at once") }
        #expect(ran.all == ["at once"])
        await withCheckedContinuation { continuation in
            MainExecutionContext {
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume()
            }
        }
    }

    @Test func `The snippet's own Async works with the library's contexts`() async {
        let operation = HandMadeAsync<Int>()
        let queue = DispatchQueue(label: "the caller's choice")
        let seen = Lines()
        operation.onComplete { seen.add("at once: \($0)") }
        await withCheckedContinuation { continuation in
            operation.onComplete(context: queue.context) {
                dispatchPrecondition(condition: .onQueue(queue))
                seen.add("on the queue: \($0)")
                continuation.resume()
            }
            operation.complete(7)
        }
        operation.onComplete { seen.add("afterwards: \($0)") }
        #expect(seen.all == ["at once: 7", "on the queue: 7", "afterwards: 7"])
    }
}

// Unchecked: one thread at a time uses it, since the tests wait for each thread's end of use.
private final class ViewController: @unchecked Sendable {
    let dataSource = DataSource()
    let tableView = TableView()
    private let shown = Shown<Async<[String]>.Outcome?>(nil)
    var birds: Async<[String]>.Outcome? {
        get { shown.value }
        set { shown.value = newValue }
    }

    func showBirdsWhereverTheyArrive() {
        dataSource.getBirds().onComplete { birds in
            self.birds = birds
            self.tableView.reloadData()
        }
    }

    func showBirds() {
        dataSource.getBirds().onComplete(MainExecutionContext) { birds in
            self.birds = birds
            self.tableView.reloadData()
        }
    }
}

// Unchecked, as above.
private final class TableView: @unchecked Sendable {
    private let reloadedOnMain = Shown(false)
    var wasReloadedOnMain: Bool { reloadedOnMain.value }
    var onReload: () -> Void = {}

    func reloadData() {
        reloadedOnMain.value = MainContext().isCurrent == true
        onReload()
    }
}

/// A value behind a lock.
///
/// The thread sanitizer does not see that a continuation orders its resumer before its task.
private final class Shown<Value>: @unchecked Sendable {
    // Unchecked: reached under the lock only.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
}

/// Completes on a queue of its own, as the tasks of a URL session do.
private final class DataSource: Sendable {
    private let session = DispatchQueue(label: "session")

    func getBirds() -> Async<[String]> {
        let promise = Promise<[String]>()
        session.async { promise.succeed(["robin", "wren"]) }
        return promise.async
    }
}

/// The post's simple alternative to completion handlers, for one thread.
// Unchecked: the test uses it on one thread at a time.
private final class HandMadeAsync<Result: Sendable>: @unchecked Sendable {
    typealias Callback = @Sendable (Result) -> Void
    private var result: Result?
    private var callbacks: [Callback] = []

    @discardableResult
    func onComplete(
        context: any ExecutionContext = ImmediateExecutionContext, callback: @escaping Callback
    ) -> Self {
        let wrappedCallback: Callback = { res in
            context {
                callback(res)
            }
        }
        if let result = result {
            wrappedCallback(result)
        } else {
            callbacks.append(wrappedCallback)
        }
        return self
    }

    func complete(_ result: Result) {
        self.result = result
        for callback in callbacks { callback(result) }
        callbacks = []
    }
}
