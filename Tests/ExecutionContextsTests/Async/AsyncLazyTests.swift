import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A lazy future begins once, with its first interested subscriber (laws 24 and 26).
@Suite(.patient)
struct AsyncLazyTests {
    /// A lazy future, and how often it began.
    private func lazy(
        on context: some ExecutionContext = .immediate, as source: Async<Int> = Async(.success(7))
    ) -> (Async<Int>, Box<Int>) {
        let begun = Box(0)
        let lazy = Async.lazy(on: context) {
            begun.withValue { $0 += 1 }
            return source
        }
        return (lazy, begun)
    }

    typealias Subscriber = AsyncCancelTests.Subscriber

    @Test(arguments: Subscriber.all)
    func `Law 24: a lazy future begins with its first subscriber, and never again`(
        _ subscriber: Subscriber
    ) async {
        await watched {
            let promise = Promise<Int>()
            let (lazy, begun) = lazy(as: promise.async)
            #expect(begun.value == 0)
            let leave = subscriber.subscribe(lazy)
            waitUntil { begun.value == 1 }
            lazy.onComplete { _ in }
            lazy.map { $0 }.cancel()
            leave()
            promise.succeed(1)
            lazy.onComplete { _ in }
            #expect(begun.value == 1)
            #expect(lazy.value == 1)
        }
    }

    @Test func `Law 26: looking at a lazy future, and a tap, do not begin it`() {
        let (lazy, begun) = lazy()
        let taps = Box(0)
        lazy.tap { _ in taps.withValue { $0 += 1 } }
        #expect(!lazy.isCompleted && lazy.outcome == nil)
        #expect(lazy.description.contains("lazy"))
        #expect(begun.value == 0 && taps.value == 0)
        #expect(lazy.map { $0 + 1 }.value == 8)
        #expect(begun.value == 1 && taps.value == 1)
    }

    @Test(.alsoSimulated) func `Law 24: a lazy future begins with a task that awaits it`()
        async throws
    {
        let (lazy, begun) = lazy()
        #expect(try await lazy.get() == 7)
        let (other, _) = self.lazy()
        #expect(try await other.getOrCancel() == 7)
        #expect(try await lazy.get() == 7)
        #expect(begun.value == 1)
    }

    @Test
    func `Law 26: a task that was cancelled before it awaits a lazy future does not begin it`()
        async throws
    {
        for cancelsLazy in [false, true] {
            let (lazy, begun) = lazy()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await cancelsLazy ? lazy.getOrCancel() : lazy.get()
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(begun.value == 0)
            #expect(lazy.isCompleted == cancelsLazy)
        }
    }

    @Test func `Law 27: a lazy future begins with a thread that waits, and may wait`() async {
        await offThePool {
            let (lazy, begun) = lazy(on: .global)
            #expect(throws: AsyncError.timedOut(after: .zero)) { try lazy.wait(timeout: .zero) }
            #expect(begun.value == 0)
            #expect(throws: Never.self) { try lazy.wait() }
            #expect(begun.value == 1)
        }
    }

    @Test func `Law 27: the caller's context is an obstacle for a lazy future that needs it`() async
    {
        await watched {
            let context = SerialQueueContext(name: "ledger")
            context.sync {
                let lazy = Async.lazy(on: context) { Async(.success(1)) }
                lazy.onComplete { _ in }
                #expect(lazy.endlessWait?.contains("lazy must continue on 'ledger'") == true)
                let inner = Async.lazy { context.submit { 1 } }
                inner.onComplete { _ in }
                #expect(inner.endlessWait?.contains("submitted to 'ledger'") == true)
            }
        }
    }

    @Test func `A lazy future begins on its context, and completes like what its closure returns`()
    {
        let context = ManualContext()
        let lazy = Async.lazy(on: context) { [context] in
            #expect(context.isCurrent == true)
            return Async(error: Oops(number: 1)) as Async<Int>
        }
        let seen = lazy.map { $0 }
        #expect(!lazy.isCompleted)
        context.runReady()
        #expect(seen.error as? Oops == Oops(number: 1))
        let throwing = Async<Int>.lazy { throw Oops(number: 2) }
        #expect(throwing.map { $0 }.error as? Oops == Oops(number: 2))
        #expect(throwing.error as? Oops == Oops(number: 2))
    }

    @Test func `A lazy closure of the main actor begins on it`() async {
        await MainActor.run {
            let ui = ManualMainContext()
            let lazy = Async.lazy(on: ui) {
                MainActor.assertIsolated()
                return Async(.success(1))
            }.map { $0 }
            ui.runReady()
            #expect(lazy.value == 1)
        }
    }

    // MARK: - Cancelling

    @Test func `Law 26: a lazy future that is cancelled first never begins, and frees its closure`()
    {
        let sentinels = Sentinels()
        let (context, begun) = (ManualContext(), Box(0))
        for isQueued in [false, true] {
            let lazy = Async.lazy(on: context) { [sentinel = sentinels.make()] in
                _ = sentinel
                begun.withValue { $0 += 1 }
                return Async(.success(1))
            }
            // With a subscriber, the closure waits on the context.
            let leave =
                isQueued ? Subscriber(deriving: "map") { $0.map { $0 } }.subscribe(lazy) : {}
            if isQueued { leave() } else { #expect(lazy.cancel()) }
            #expect(lazy.error is CancellationError)
            #expect(sentinels.living == 0)
            lazy.onComplete { _ in }
        }
        context.runReady()
        #expect(begun.value == 0)
    }

    @Test func `Law 26: cancelling a lazy future that has begun cancels what it follows`() {
        let promise = Promise<Int>()
        let (lazy, _) = lazy(as: promise.async)
        lazy.map { $0 }.cancel()
        #expect(lazy.error is CancellationError)
        #expect(promise.async.error is CancellationError)
    }

    @Test func `Law 26: a lazy future that cancels itself while it begins leaves what it returns`()
    {
        let promise = Promise<Int>()
        let lazy = Box<Async<Int>?>(nil)
        lazy.value = Async.lazy {
            lazy.value?.cancel()
            return promise.async
        }
        #expect(lazy.value?.map { $0 }.error is CancellationError)
        #expect(promise.async.error is CancellationError)
        lazy.value = nil
    }

    @Test func `Law 24: a lazy future that follows itself fails`() {
        let lazy = Box<Async<Int>?>(nil)
        lazy.value = Async.lazy { lazy.value! }
        #expect(lazy.value?.map { $0 }.error as? AsyncError == .waitsForItself)
        lazy.value = nil
    }

    @Test func `Law 1: a lazy future on a context that drops jobs ends with a refusal`() {
        let lazy = Async.lazy(on: ClosureContext { _ in }) { Async(.success(1)) }
        #expect((lazy.map { $0 }.error as? Refusal)?.reason == .abandoned)
    }

    @Test func `A lazy future on a context that runs jobs twice begins once`() {
        let (lazy, begun) = lazy(
            on: ClosureContext { work in
                work()
                work()
            })
        #expect(lazy.map { $0 }.value == 7)
        #expect(begun.value == 1)
    }

    // MARK: - Length

    private static func chain(_ count: Int, from head: Async<Int>) -> Async<Int> {
        (0..<count).reduce(head) { next, _ in Async.lazy { next } }
    }

    @Test func `Law 25: a chain of lazy futures begins and ends on a small stack`() async {
        await onSmallStack {
            for fails in [false, true] {
                let head = Promise<Int>()
                let end = Self.chain(AsyncJoiningTests.many, from: head.async)
                let calls = Box(0)
                end.onComplete { _ in calls.withValue { $0 += 1 } }
                if fails { head.fail(Oops()) } else { head.succeed(1) }
                #expect(calls.value == 1)
                #expect(fails ? end.error is Oops : end.value == 1)
            }
        }
    }

    @Test
    func `Law 25: a chain of lazy futures is waited for, cancelled and freed on a small stack`()
        async
    {
        await onSmallStack {
            let count = AsyncJoiningTests.many
            #expect((try? Self.chain(count, from: Async(.success(1))).wait()) == 1)
            let head = Promise<Int>()
            Self.chain(count, from: head.async).map { $0 }.cancel()
            #expect(head.async.error is CancellationError)
            let sentinels = Sentinels()
            do {
                let first = Async.lazy { [sentinel = sentinels.make()] in
                    withExtendedLifetime(sentinel) { Async(.success(1)) }
                }
                _ = Self.chain(count, from: first)
            }
            #expect(sentinels.living == 0)
        }
    }
}
