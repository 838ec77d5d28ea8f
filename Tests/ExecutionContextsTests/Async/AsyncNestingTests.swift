import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Handlers, captures and values that each refer to the next one, at any depth (laws 10, 25, 26).
@Suite(.patient)
struct AsyncNestingTests {
    static let veryMany = AsyncDepthTests.veryMany
    static let many = AsyncDepthTests.many

    @Test
    func `Law 26: very many handlers that each cancel the next future need a small stack only`()
        async
    {
        await onSmallStack {
            let handlers = Box<[@Sendable (Async<Int>.Outcome) -> Void]>([])
            let isCancelled = Box(false)
            let innermost = Promise<Int>()
            innermost.onCancel { isCancelled.value = true }
            var outer = innermost.async
            for _ in 0..<Self.veryMany {
                outer = Async.fromCallback { [inner = outer] done, onCancel in
                    handlers.withValue { $0.append(done) }
                    onCancel { inner.cancel() }
                }
            }
            #expect(outer.cancel())
            #expect(isCancelled.value)
            #expect(innermost.async.error is CancellationError)
        }
    }

    @Test func `Law 26: handlers nest 32 deep; deeper ones run after the call that cancelled`() {
        let log = Box<[Int]>([])
        let promises = (0..<40).map { _ in Promise<Int>() }
        for (number, promise) in promises.enumerated() {
            promise.onCancel {
                log.withValue { $0.append(number) }
                if number + 1 < promises.count {
                    promises[number + 1].async.cancel()
                    #expect(promises[number + 1].async.error is CancellationError)
                }
                log.withValue { $0.append(-number) }
            }
        }
        promises[0].async.cancel()
        // The innermost nested handler has returned before the next handler is called. The deferred
        // handlers then run one after the other.
        let deferred = (32..<40).flatMap { [$0, -$0] }
        let returning = (0..<31).reversed().map { -$0 }
        #expect(log.value == Array(0..<32) + [-31] + deferred + returning)
    }

    @Test func `Law 26: a handler that registers a handler on a cancelled promise needs no stack`()
        async
    {
        await onSmallStack {
            let promise = Promise<Int>()
            promise.async.cancel()
            let count = Box(0)
            @Sendable func register() {
                promise.onCancel {
                    count.withValue { $0 += 1 }
                    if count.value < Self.many { register() }
                }
            }
            register()
            #expect(count.value == Self.many)
        }
    }

    @Test(arguments: AsyncDepthTests.Ending.allCases)
    func `Law 10: handlers that each keep the next promise are freed on a small stack`(
        _ ending: AsyncDepthTests.Ending
    ) async {
        await onSmallStack {
            let sentinels = Sentinels()
            do {
                let last = Promise<Int>()
                let sentinel = sentinels.make()
                last.onCancel { _ = sentinel }
                var head: Promise<Int>? = last
                for _ in 0..<Self.many {
                    let before = Promise<Int>()
                    before.onCancel { [head] in _ = head }
                    head = before
                }
                ending.apply(to: &head)
            }
            #expect(sentinels.living == 0)
        }
    }

    /// A list whose tail is a future.
    private enum List: Sendable {
        case end(Sentinel)
        case element(Async<List>)
    }

    @Test func `Law 10: values that each refer to the next future are freed on a small stack`()
        async
    {
        await onSmallStack {
            let sentinels = Sentinels()
            do {
                var list = Async(.success(List.end(sentinels.make())))
                for _ in 0..<Self.many { list = Async(.success(.element(list))) }
                #expect(sentinels.living == 1)
            }
            #expect(sentinels.living == 0)
        }
    }

    @Test func `Law 10: a future of futures of futures is freed on a small stack`() async {
        await onSmallStack {
            let sentinels = Sentinels()
            do {
                let sentinel = sentinels.make()
                // Until it ends, each future keeps the next one, whose source never completes.
                var end = Async(.success(1)).delay(.nanoseconds(Int64.max), on: .global).map { _ in
                    _ = sentinel; return 1
                }
                for _ in 0..<Self.many {
                    end = Async(.success(1)).delay(.nanoseconds(Int64.max), on: .global).flatMap {
                        [end] _ in
                        end
                    }
                }
                #expect(!end.isCompleted)
            }
            #expect(sentinels.living == 0)
        }
    }

    @Test func `Law 10: delays that each keep the delay before are freed on a small stack`() async {
        await onSmallStack {
            let sentinels = Sentinels()
            do {
                let sentinel = sentinels.make(), context = GlobalContext()
                // Only its handle keeps a delay that is never due.
                var last = context.schedule(after: .nanoseconds(Int64.max)) { _ = sentinel }
                for _ in 0..<Self.many {
                    last = context.schedule(after: .nanoseconds(Int64.max)) { [last] in _ = last }
                }
                #expect(last.isWaiting)
            }
            #expect(sentinels.living == 0)
        }
    }

    @Test func `Law 25: wrapped handlers that each keep the next one are dropped on a small stack`()
        async
    {
        await onSmallStack {
            let sentinels = Sentinels()
            let faults = Box(0)
            do {
                let sentinel = sentinels.make()
                var first: @Sendable () -> Void = { _ = sentinel }
                for _ in 0..<Self.many {
                    first = ImmediateContext().callback(
                        { [first] in first() }, onFault: { _ in faults.withValue { $0 += 1 } })
                }
                _ = first
            }
            #expect(sentinels.living == 0)
            #expect(faults.value == Self.many)
        }
    }

    @Test
    func `Law 26: completion handlers that each keep the next one are dropped on a small stack`()
        async
    {
        await onSmallStack {
            let sentinels = Sentinels()
            do {
                let sentinel = sentinels.make()
                var first: @Sendable () -> Void = { _ = sentinel }
                for _ in 0..<Self.many {
                    let kept = Box<(@Sendable () -> Void)?>(nil)
                    _ = Async<Void>.fromCallback(
                        { (done: @escaping @Sendable () -> Void) in kept.value = done },
                        onFault: { [first] _ in first() })
                    first = { kept.value?() }
                }
            }
            #expect(sentinels.living == 0)
        }
    }
}
