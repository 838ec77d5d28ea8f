import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// An `Async` made from a function with a completion handler.
@Suite(.patient)
struct CallbackBridgeTests {
    @Test func `The closure receives a handler of the kind that the function takes`() async throws {
        let files = Files()
        let result: Async<String> = .fromCallback { done in files.result("a", completion: done) }
        let typed = Async.fromCallback { done in files.typed("b", completion: done) }
        let pair: Async<String> = .fromCallback { done in files.pair("c", completion: done) }
        let value: Async<String> = .fromCallback { done in files.value("d", completion: done) }
        let optional: Async<String?> = .fromCallback { done in files.pair("e", completion: done) }
        let tuple: Async<(String, Int)> = .fromCallback { done in
            files.three("f") { text, status, error in
                guard let text, let status else { return done(nil, error) }
                done((text, status), nil)
            }
        }
        #expect(
            try await [result.get(), typed.get().get(), pair.get(), value.get()]
                == ["a", "b", "c", "d"])
        #expect(try await optional.get() == "e")
        #expect(try await tuple.get() == ("f", 200))
        try await Async<Void>.fromCallback { done in files.save("g", completion: done) }.get()
        try await Async<Void>.fromCallback { done in files.end(completion: done) }.get()
    }

    @Test func `The type of the value is inferred from the function that is called`() {
        let files = Files()
        let result = Async.fromCallback { done in files.result("a", completion: done) }
        let typed = Async.fromCallback { done in files.typed("b", completion: done) }
            .map { outcome in try outcome.get() }
        let pair = Async.fromCallback { files.pair("c", completion: $0) }
        let value = Async.fromCallback { done in files.value("d", completion: done) }
        let saved = Async.fromCallback { done in files.save("e", completion: done) }
        let ended = Async.fromCallback { done in files.end(completion: done) }
        let cancellable = Async.fromCallback { done, onCancel in
            onCancel {}
            files.pair("f", completion: done)
        }
        let texts: [Async<String>] = [result, typed, pair, value, cancellable]
        let ends: [Async<Void>] = [saved, ended]
        #expect(texts.map(\.value) == ["a", "b", "c", "d", "f"])
        #expect(ends.allSatisfy { $0.value != nil })
    }

    @Test func `A handler that is called directly has the kind that fits the call`() {
        let number = Async<Int>.fromCallback { done in done(1) }
        let result = Async<Int>.fromCallback { done in done(.success(2)) }
        let pair = Async<Int>.fromCallback { done in done(3, nil) }
        let nothing = Async<Void>.fromCallback { done in done() }
        let error = Async<Void>.fromCallback { done in done(Broken.here) }
        #expect([number.value, result.value, pair.value] == [1, 2, 3])
        #expect(nothing.value != nil)
        #expect(error.error as? Broken == .here)
    }

    @Test func `An error fails the future, for each kind of handler that takes an error`() {
        let files = Files(error: .here)
        let errors: [(any Error)?] = [
            Async<String>.fromCallback { done in files.result("a", completion: done) }.error,
            Async.fromCallback { done in files.typed("a", completion: done) }
                .map { outcome in try outcome.get() }.error,
            Async<String>.fromCallback { done in files.pair("a", completion: done) }.error,
            Async<String>.fromCallback { done, _ in files.result("a", completion: done) }.error,
            Async<String>.fromCallback { done, _ in files.pair("a", completion: done) }.error,
            Async<Void>.fromCallback { done in files.save("a", completion: done) }.error,
            Async<Void>.fromCallback { done, _ in files.save("a") { error in done((), error) } }
                .error,
        ]
        for error in errors { #expect(error as? Broken == .here) }
    }

    @Test func `A value with an error fails the future, and so does neither of them`() {
        let both = Async<Int>.fromCallback { done in done(1, Broken.here) }
        let neither = Async<Int>.fromCallback { done in done(nil, nil) }
        let optional = Async<Int?>.fromCallback { done in done(.some(nil), nil) }
        #expect(both.error as? Broken == .here)
        #expect(neither.error as? AsyncError == .noOutcome)
        #expect(optional.value == .some(nil))
    }

    @Test func `Law 24: an error that the closure throws counts where nothing keeps the handler`() {
        let plain = Async<Int>.fromCallback {
            (_: @escaping @Sendable (Result<Int, any Error>) -> Void) in throw Broken.here
        }
        #expect(plain.error as? Broken == .here)
        let cancellable = Async<Int>.fromCallback {
            (_: @escaping @Sendable (Int?, (any Error)?) -> Void, _) in throw Broken.here
        }
        #expect(cancellable.error as? Broken == .here)
    }

    @Test
    func `The starting closure runs on the caller, and an error that it throws fails the future`() {
        let log = Box<[String]>([])
        let kept = Box<(@Sendable (Int) -> Void)?>(nil)
        let thrown = Async<Int>.fromCallback { done in
            log.withValue { $0.append("started") }
            kept.value = done
            throw Broken.here
        } onFault: {
            Issue.record("\($0)")
        }
        log.withValue { $0.append("returned") }
        #expect(log.value == ["started", "returned"])
        #expect(thrown.error as? Broken == .here)
        // This is the handler's first call, though it comes too late.
        kept.value?(1)
        #expect(thrown.error as? Broken == .here)
        // The first outcome counts.
        let called = Async<Int>.fromCallback { done in
            done(1)
            throw Broken.here
        }
        #expect(called.value == 1)
    }

    @Test
    func `Law 26: a handler that is released uncalled fails the future as a released promise does`()
    {
        let isFreed = Box(false)
        let line: UInt = #line + 1
        let dropped = Async<Int>.fromCallback { done in
            let capture = capturing(isFreed)
            let forgotten: () -> Void = {
                capture()
                done(1)
            }
            _ = forgotten
        }
        #expect(isFreed.value)
        #expect(
            dropped.error as? AsyncError
                == .abandoned(promise: "ExecutionContextsTests/CallbackBridgeTests.swift:\(line)"))
    }

    @Test func `Law 24: a second call changes nothing and is reported with the source location`()
        throws
    {
        let faults = Box<[CallbackFault]>([])
        let kept = Box<[@Sendable (Result<Int, any Error>) -> Void]>([])
        let line: UInt = #line + 1
        let twice = Async<Int>.fromCallback { done in
            kept.withValue { $0 = [done, done] }
        } onFault: { fault in
            faults.withValue { $0.append(fault) }
        }
        kept.value[0](.success(1))
        kept.value[1](.success(2))
        kept.value[0](.failure(Broken.here))
        #expect(twice.value == 1)
        #expect(faults.value.map(\.reason) == [.calledAgain, .calledAgain])
        let fault = try #require(faults.value.first)
        #expect(fault.context == nil)
        for part in ["CallbackBridgeTests.swift:\(line)", "called again", "law 24"] {
            #expect(fault.description.contains(part))
        }
    }

    @Test func `By default, a second call prints one line to standard error, without a trap`()
        async throws
    {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            _ = Async<Int>.fromCallback { done in
                done(1)
                done(2)
            }
        }
        try expectTrap(
            result, "ExecutionContexts: ", "called again", "CallbackBridgeTests.swift", "law 24")
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        #expect(!output.contains("called again"))
    }

    @Test func `Law 10: a reference to a handler that was called does not keep the value`() {
        let isFreed = Box(false)
        let kept = Box<(@Sendable (Farewell) -> Void)?>(nil)
        do {
            let value = Async<Farewell>.fromCallback { done in kept.value = done }
            kept.value?(Farewell { isFreed.value = true })
            #expect(value.isCompleted)
        }
        #expect(isFreed.value)
        #expect(kept.value != nil)
    }

    @Test func `The handler may be wrapped for a context like any other handler`() {
        let manual = ManualContext()
        let files = Files()
        let value = Async<String>.fromCallback { done in
            files.pair("a", completion: manual.callback(done))
        }
        #expect(value.outcome == nil)
        manual.runReady()
        #expect(value.value == "a")
        // A context that drops it releases the handler, which fails the `Async`, too.
        let faults = Box<[CallbackFault.Reason]>([])
        let dropped = Async<String>.fromCallback { done in
            files.value(
                "a",
                completion: ClosureContext(name: "lossy") { _ in }.callback(done) { fault in
                    faults.withValue { $0.append(fault.reason) }
                })
        }
        #expect(faults.value == [.refused(.abandoned)])
        #expect(dropped.error is AsyncError)
    }

    @Test func `Law 24: of sixteen threads that call at once, exactly one completes the future`()
        async
    {
        await offThePool {
            let count = rounds(debug: 2_000, release: 50_000)
            let faults = Box(0)
            let all = Box<[(Async<Int>, @Sendable (Int) -> Void)]>([])
            for _ in 0..<count {
                let kept = Box<(@Sendable (Int) -> Void)?>(nil)
                let value = Async<Int>.fromCallback { done in
                    kept.value = done
                } onFault: { _ in
                    faults.withValue { $0 += 1 }
                }
                all.withValue { $0.append((value, kept.value!)) }
            }
            let wins = Box(0)
            let pairs = all.value
            for (value, _) in pairs { value.onSuccess { _ in wins.withValue { $0 += 1 } } }
            onThreads((0..<16).map { index in { for (_, done) in pairs { done(index) } } })
            #expect(wins.value == count)
            #expect(faults.value == 15 * count)
        }
    }
}

enum Broken: Error { case here }

/// Functions with completion handlers that are called before the function returns.
struct Files {
    var error: Broken?

    private var outcome: Result<Void, Broken> { error.map { .failure($0) } ?? .success(()) }

    func result(_ text: String, completion: @escaping @Sendable (Result<String, any Error>) -> Void)
    {
        completion(outcome.map { text }.mapError { $0 })
    }
    func typed(_ text: String, completion: @escaping (Result<String, Broken>) -> Void) {
        completion(outcome.map { text })
    }
    @discardableResult
    func pair(_ text: String, completion: @escaping @Sendable (String?, (any Error)?) -> Void)
        -> Int
    {
        completion(error == nil ? text : nil, error)
        return 0
    }
    func value(_ text: String, completion: @escaping @Sendable (String) -> Void) {
        completion(text)
    }
    func three(
        _ text: String, completion: @escaping @Sendable (String?, Int?, (any Error)?) -> Void
    ) {
        completion(text, 200, nil)
    }
    func save(_ text: String, completion: @escaping ((any Error)?) -> Void) { completion(error) }
    func end(completion: @escaping @Sendable () -> Void) { completion() }
}
