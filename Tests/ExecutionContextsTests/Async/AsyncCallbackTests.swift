import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Every callback is called once, where it was to be called, in the order of registration (law 25).
@Suite(.timeLimit(.minutes(30)))
struct AsyncCallbackTests {
    /// Those whose calls come in the order of submission.
    static func keepsOrder(_ context: any ExecutionContext) -> Bool {
        context is any SerialContext || context is ImmediateContext
    }

    @Test(arguments: Subject.all)
    func `Law 25: callbacks are called once each, on their context and in order, before and after the end`(
        _ subject: Subject
    ) async {
        await watched {
            let made = subject.make()
            let promise = Promise<Int>()
            let calls = Calls()
            func register(_ numbers: Range<Int>) {
                for number in numbers { calls.register(number, of: promise.async, on: made.context) }
            }
            register(0..<20)
            // The 15th registers more: from inside a callback, while others wait behind it.
            calls.inside = (15, 40..<50)
            promise.succeed(7)
            register(20..<40)
            calls.wait(for: 50, drive: made.drive)
            register(50..<60)
            calls.wait(for: 60, drive: made.drive)

            #expect(calls.numbers.sorted() == Array(0..<60))
            #expect(calls.strays == 0, "called elsewhere")
            #expect(calls.wrong == 0, "told something else")
            guard Self.keepsOrder(made.context) else { return }
            // What was registered from inside comes when it was registered, relative to the others.
            let outside = calls.numbers.filter { !(40..<50).contains($0) }
            #expect(outside == Array(0..<40) + Array(50..<60))
            #expect(calls.numbers.filter { (40..<50).contains($0) } == Array(40..<50))
        }
    }

    @Test(arguments: Subject.bases)
    func `Law 25: callbacks on two contexts keep the order of each of them`(_ subject: Subject) async {
        await watched {
            let made = subject.make()
            let other = SerialQueueContext(label: "other")
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
    func `Law 25: only the callbacks for the way it ended are called`(_ succeeds: Bool) {
        let promise = Promise<Int>()
        let log = Box<[String]>([])
        func note(_ text: String) { log.withValue { $0.append(text) } }
        @Sendable func noting(_ text: String) -> @Sendable () -> Void {
            { log.withValue { $0.append(text) } }
        }
        let (success, failure, complete) = (noting("success"), noting("failure"), noting("complete"))
        let same = promise.async
            .onSuccess { _ in success() }
            .onFailure { _ in failure() }
            .onComplete { _ in complete() }
            .onComplete(.immediate) { _ in complete() }
            .onComplete(ImmediateExecutionContext) { _ in complete() }
        if succeeds { promise.succeed(1) } else { promise.fail(Oops()) }
        same.onSuccess { _ in success() }.onFailure { _ in failure() }
        let ending = succeeds ? "success" : "failure"
        #expect(log.value == [ending, "complete", "complete", "complete", ending])
    }

    @Test func `Law 25: closures of the main actor are called on it`() async throws {
        let promise = Promise<Int>()
        let value: Int = try await withCheckedThrowingContinuation { continuation in
            promise.async
                .onComplete(on: .main) { _ in MainActor.assertIsolated() }
                .onComplete(MainExecutionContext) { _ in MainActor.assertIsolated() }
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

    // MARK: - From inside

    @Test func `Law 25: order wins over immediacy while others wait to be told`() {
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
        #expect(log.value == ["first in", "first out", "second", "third in", "third out", "fourth"])
    }

    @Test func `Law 25: after the end a callback is called before the registering call returns`() {
        let async = Async(.success(1))
        let log = Box<[Int]>([])
        async.onComplete { _ in log.withValue { $0.append(1) } }
        log.withValue { $0.append(2) }
        #expect(log.value == [1, 2])
    }

    @Test func `Law 25: who registers while others are being told does not wait, and is told by who tells`()
        async
    {
        await watched {
            let promise = Promise<Int>()
            let isInside = DispatchSemaphore(value: 0)
            let mayGoOn = DispatchSemaphore(value: 0)
            let log = Box<[String]>([])
            let teller = Box<ObjectIdentifier?>(nil)
            promise.async.onComplete { _ in
                log.withValue { $0.append("first") }
                teller.value = ObjectIdentifier(Thread.current)
                isInside.signal()
                mayGoOn.wait()
            }
            onThreads([
                { promise.succeed(1) },
                {
                    isInside.wait()
                    promise.async.onComplete { _ in
                        log.withValue { $0.append("second") }
                        #expect(teller.value == ObjectIdentifier(Thread.current))
                    }
                    log.withValue { $0.append("registered") }
                    #expect(promise.async.value == 1)
                    mayGoOn.signal()
                },
            ])
            #expect(log.value == ["first", "registered", "second"])
        }
    }

    @Test func `Law 25: a callback may complete another promise, whose callbacks are called at once`() {
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

    @Test func `Law 25: a callback may block on another Async that another thread completes`() async {
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

/// Callbacks with numbers, and what has become of them.
private final class Calls: Sendable {
    private struct State {
        var numbers: [Int] = []
        var strays = 0
        var wrong = 0
        var inside: (Int, Range<Int>)?
    }

    private let state = Box(State())
    private let happened = DispatchSemaphore(value: 0)

    var numbers: [Int] { state.value.numbers }
    var strays: Int { state.value.strays }
    var wrong: Int { state.value.wrong }

    /// The callback of this number registers those.
    var inside: (Int, Range<Int>)? {
        get { state.value.inside }
        set { state.withValue { $0.inside = newValue } }
    }

    func register(_ number: Int, of async: Async<Int>, on context: any ExecutionContext) {
        async.onComplete(on: context) { [self] outcome in
            // Never a false yes; where nothing is known the context may still be able to check.
            if context.isCurrent == false { state.withValue { $0.strays += 1 } }
            context.preconditionIsCurrent()
            if (try? outcome.get()) != 7 { state.withValue { $0.wrong += 1 } }
            let more = state.withValue { state -> Range<Int>? in
                state.numbers.append(number)
                return state.inside?.0 == number ? state.inside?.1 : nil
            }
            for number in more ?? 0..<0 { register(number, of: async, on: context) }
            happened.signal()
        }
    }

    /// Returns when so many have been called.
    func wait(for count: Int, drive: Work?) {
        if let drive {
            while state.value.numbers.count < count { drive() }
        } else {
            while state.value.numbers.count < count { happened.wait() }
        }
    }
}
