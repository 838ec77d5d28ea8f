import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Every callback is called once, on its context, in the order of registration (law 25).
@Suite(.patient)
struct AsyncCallbackTests {
    /// Whether `context` runs jobs in the order of submission.
    static func keepsOrder(_ context: any ExecutionContext) -> Bool {
        context is any SerialContext || context is ImmediateContext
    }

    @Test(arguments: Subject.all)
    func
        `Law 25: callbacks registered before and after the end are called once, in order, on their context`(
            _ subject: Subject
        ) async
    {
        await watched {
            let made = subject.make()
            let promise = Promise<Int>()
            let calls = Calls()
            func register(_ numbers: Range<Int>) {
                for number in numbers {
                    calls.register(number, of: promise.async, on: made.context)
                }
            }
            register(0..<20)
            // Callback 15 registers further callbacks while others are queued behind it.
            calls.nested = (15, 40..<50)
            promise.succeed(7)
            register(20..<40)
            calls.wait(for: 50, drive: made.drive)
            register(50..<60)
            calls.wait(for: 60, drive: made.drive)

            #expect(calls.numbers.sorted() == Array(0..<60))
            #expect(calls.wrongContexts == 0, "called on another context")
            #expect(calls.wrongOutcomes == 0, "called with another outcome")
            guard Self.keepsOrder(made.context) else { return }
            // The callbacks of the test keep their order, and so do those of callback 15.
            let outside = calls.numbers.filter { !(40..<50).contains($0) }
            #expect(outside == Array(0..<40) + Array(50..<60))
            #expect(calls.numbers.filter { (40..<50).contains($0) } == Array(40..<50))
        }
    }

    @Test(arguments: Subject.bases)
    func `Law 25: callbacks on two contexts keep the order of each context`(_ subject: Subject)
        async
    {
        await watched {
            let made = subject.make()
            let other = SerialQueueContext(name: "other")
            let promise = Promise<Int>()
            let (calls, others) = (Calls(), Calls())
            for number in 0..<100 {
                calls.register(number, of: promise.async, on: made.context)
                others.register(number, of: promise.async, on: other)
                if number == 50 { promise.succeed(7) }
            }
            calls.wait(for: 100, drive: made.drive)
            others.wait(for: 100, drive: nil)
            #expect(others.numbers == Array(0..<100))
            if Self.keepsOrder(made.context) { #expect(calls.numbers == Array(0..<100)) }
        }
    }

    @Test(arguments: [true, false])
    func `Law 25: only the callbacks for the actual outcome are called`(_ succeeds: Bool) {
        let promise = Promise<Int>()
        let log = Box<[String]>([])
        func note(_ text: String) { log.withValue { $0.append(text) } }
        @Sendable func noting(_ text: String) -> @Sendable () -> Void {
            { log.withValue { $0.append(text) } }
        }
        let (success, failure, complete) = (
            noting("success"), noting("failure"), noting("complete")
        )
        let same = promise.async
            .onSuccess { _ in success() }
            .onFailure { _ in failure() }
            .onComplete { _ in complete() }
            .onComplete(on: .immediate) { _ in complete() }
            .onComplete(on: ImmediateContext()) { _ in complete() }
        if succeeds { promise.succeed(1) } else { promise.fail(Oops()) }
        same.onSuccess { _ in success() }.onFailure { _ in failure() }
        let ending = succeeds ? "success" : "failure"
        #expect(log.value == [ending, "complete", "complete", "complete", ending])
    }

    @Test func `Law 25: closures isolated to the main actor are called on it`() async throws {
        let promise = Promise<Int>()
        let value: Int = try await withCheckedThrowingContinuation { continuation in
            promise.async
                .onComplete(on: .main) { _ in MainActor.assertIsolated() }
                .onSuccess(on: .main) { _ in MainActor.assertIsolated() }
                .map(on: .main) { value in
                    MainActor.assertIsolated()
                    return value + 1
                }
                .flatMap(on: .main) { value -> Async<Int> in
                    MainActor.assertIsolated()
                    throw Oops(number: value)
                }
                .onFailure(on: .main) { _ in MainActor.assertIsolated() }
                .andThen(on: .main) { _ in MainActor.assertIsolated() }
                .recover(on: .main) { error in
                    MainActor.assertIsolated()
                    return (error as? Oops)?.number ?? 0
                }
                .onComplete(on: .main, while: InvalidationToken()) { outcome in
                    MainActor.assertIsolated()
                    continuation.resume(with: outcome)
                }
            promise.succeed(1)
        }
        #expect(value == 2)
    }

    // MARK: - Inside a callback

    @Test func `Law 25: order wins over immediacy while subscribers are being notified`() {
        let promise = Promise<Int>()
        let log = Box<[String]>([])
        @Sendable func note(_ text: String) { log.withValue { $0.append(text) } }
        promise.async.onComplete { _ in
            note("first in")
            promise.async.onComplete { _ in
                note("third in")
                promise.async.onComplete { _ in note("fourth") }
                note("third out")
            }
            note("first out")
        }
        promise.async.onComplete { _ in note("second") }
        promise.succeed(1)
        #expect(
            log.value == ["first in", "first out", "second", "third in", "third out", "fourth"])
    }

    @Test func `Law 25: after the completion a callback is called before its registration returns`()
    {
        let async = Async(.success(1))
        let log = Box<[Int]>([])
        async.onComplete { _ in log.withValue { $0.append(1) } }
        log.withValue { $0.append(2) }
        #expect(log.value == [1, 2])
    }

    @Test
    func
        `Law 25: registering during a notification does not wait, and the notifying thread calls it`()
        async
    {
        await watched {
            let promise = Promise<Int>()
            let isInside = DispatchSemaphore(value: 0)
            let mayGoOn = DispatchSemaphore(value: 0)
            let log = Box<[String]>([])
            let notifier = Box<ObjectIdentifier?>(nil)
            promise.async.onComplete { _ in
                log.withValue { $0.append("first") }
                notifier.value = ObjectIdentifier(Thread.current)
                isInside.signal()
                mayGoOn.wait()
            }
            onThreads([
                { promise.succeed(1) },
                {
                    isInside.wait()
                    promise.async.onComplete { _ in
                        log.withValue { $0.append("second") }
                        #expect(notifier.value == ObjectIdentifier(Thread.current))
                    }
                    log.withValue { $0.append("registered") }
                    #expect(promise.async.value == 1)
                    mayGoOn.signal()
                },
            ])
            #expect(log.value == ["first", "registered", "second"])
        }
    }

    @Test
    func `Law 25: a callback may complete another promise, whose callbacks are called at once`() {
        let promises = (0..<20).map { _ in Promise<Int>() }
        let log = Box<[Int]>([])
        for (index, promise) in promises.enumerated() {
            promise.async.onSuccess { value in
                log.withValue { $0.append(index) }
                if index + 1 < promises.count { promises[index + 1].succeed(value + 1) }
                log.withValue { $0.append(-index) }
            }
        }
        promises[0].succeed(0)
        #expect(log.value == Array(0..<20) + (0..<20).reversed().map { -$0 })
        #expect(promises[19].async.value == 19)
    }

    @Test func `Law 25: a callback may block on an Async that another thread completes`() async {
        await watched {
            let (promise, other) = (Promise<Int>(), Promise<Int>())
            let queue = DispatchQueue(label: "completes")
            let values = Box<[Int]>([])
            promise.async.onComplete { _ in
                queue.async { other.succeed(2) }
                if let value = try? other.async.wait() { values.withValue { $0.append(value) } }
            }
            promise.async.onComplete { _ in values.withValue { $0.append(3) } }
            promise.succeed(1)
            #expect(values.value == [2, 3])
        }
    }
}

/// Registers numbered callbacks, and records their calls.
private final class Calls: Sendable {
    private struct State {
        var numbers: [Int] = []
        var wrongContexts = 0
        var wrongOutcomes = 0
        var nested: (Int, Range<Int>)?
    }

    private let state = Box(State())
    private let happened = DispatchSemaphore(value: 0)

    var numbers: [Int] { state.value.numbers }
    var wrongContexts: Int { state.value.wrongContexts }
    var wrongOutcomes: Int { state.value.wrongOutcomes }

    /// The number of a callback, and the numbers of the callbacks that it registers.
    var nested: (Int, Range<Int>)? {
        get { state.value.nested }
        set { state.withValue { $0.nested = newValue } }
    }

    func register(_ number: Int, of async: Async<Int>, on context: any ExecutionContext) {
        async.onComplete(on: context) { [self] outcome in
            // Where `isCurrent` is unknown, the context may still be able to check.
            if context.isCurrent == false { state.withValue { $0.wrongContexts += 1 } }
            context.preconditionIsCurrent()
            if (try? outcome.get()) != 7 { state.withValue { $0.wrongOutcomes += 1 } }
            let more = state.withValue { state -> Range<Int>? in
                state.numbers.append(number)
                return state.nested?.0 == number ? state.nested?.1 : nil
            }
            for number in more ?? 0..<0 { register(number, of: async, on: context) }
            happened.signal()
        }
    }

    /// Returns when `count` callbacks have been called.
    func wait(for count: Int, drive: Work?) {
        if let drive {
            while state.value.numbers.count < count { drive() }
        } else {
            while state.value.numbers.count < count { happened.wait() }
        }
    }
}
