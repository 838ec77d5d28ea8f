import ExecutionContexts
import TestSupport
import Testing

/// Values of any layout: each read returns what was stored, and each value is freed once.
@Suite(.patient)
struct AsyncStorageTests {
    private struct Wide: Equatable, Sendable {
        var words = (1, 2, 3, 4, 5)
        static func == (a: Self, b: Self) -> Bool { a.words == b.words }
    }
    private struct WideOwner: Sendable { var words = (1, 2, 3, 4); let sentinel: Sentinel }
    private struct Aligned: Sendable { var vector = SIMD2<Double>(1, 2) }
    private enum Shape: Equatable, Sendable {
        case none, circle(Double), text(String), box(Int, Int, Int)
    }
    private protocol Animal: Sendable { var legs: Int { get } }
    private struct Bird: Animal { let legs = 2 }
    private struct Spider: Animal {
        let legs = 8; let padding = (1, 2, 3, 4, 5); let name = "spider with a long name"
    }

    /// Makes a future of the value in each way, and reads each future twice in each way.
    private func check<Value: Sendable>(
        _ value: Value, sourceLocation: SourceLocation = #_sourceLocation, _ isSame: (Value) -> Bool
    ) async throws {
        let promise = Promise<Value>()
        promise.succeed(value)
        let received = Box<[Value]>([])
        let mapped = promise.async.map { $0 }
        promise.async.onSuccess { value in received.withValue { $0.append(value) } }
        promise.async.onComplete { outcome in
            if case .success(let value) = outcome { received.withValue { $0.append(value) } }
        }
        for async in [promise.async, mapped, Async(.success(value)), Async(.success(value))] {
            for _ in 0..<2 {
                received.withValue { $0.append(try! async.outcome!.get()) }
            }
            received.value.append(try await async.get())
            received.value.append(try blocking { try async.wait() })
        }
        let zipped = promise.async.zip(mapped)
        if let (left, right) = zipped.value { received.value += [left, right] }
        received.value += Async.all([promise.async, mapped]).value ?? []
        #expect(received.value.count == 22, sourceLocation: sourceLocation)
        for value in received.value { #expect(isSame(value), sourceLocation: sourceLocation) }
    }

    @Test func `Law 24: every read of a value of any layout returns the same value`()
        async throws
    {
        try await check(()) { _ in true }
        try await check(42) { $0 == 42 }
        try await check(UInt8(7)) { $0 == 7 }
        try await check(true) { $0 }
        try await check("short") { $0 == "short" }
        try await check("a text that does not fit into fifteen bytes") { $0.count == 43 }
        try await check([1, 2, 3]) { $0 == [1, 2, 3] }
        try await check(Wide()) { $0 == Wide() }
        try await check(Aligned()) { $0.vector == SIMD2(1, 2) }
        try await check((1, "two", 3.0)) { $0 == (1, "two", 3.0) }
        try await check(Optional(5)) { $0 == 5 }
        try await check(Int?.none) { $0 == nil }
        try await check(Int??.some(.none)) { $0 == .some(.none) }
        try await check("optional" as String?) { $0 == "optional" }
        for shape in [
            Shape.none, .circle(1.5), .text("a rather long text of an enumeration"), .box(1, 2, 3),
        ] {
            try await check(shape) { $0 == shape }
        }
        try await check(Bird() as any Animal) { $0.legs == 2 }
        try await check(Spider() as any Animal) { $0.legs == 8 }
        try await check({ 3 } as @Sendable () -> Int) { $0() == 3 }
        try await check(Int.self as Any.Type) { $0 == Int.self }
        try await check(Result<Int, any Error>.failure(Oops())) {
            if case .failure(is Oops) = $0 { true } else { false }
        }
    }

    @Test func `Law 24: an error that is a value is no failure, whatever its static type`()
        async throws
    {
        try await check(Oops(number: 3) as any Error) { $0 as? Oops == Oops(number: 3) }
        try await check(Oops(number: 3)) { $0 == Oops(number: 3) }
        try await check(AsyncError.waitsForItself) { $0 == .waitsForItself }
        let async = Async<any Error>(.success(Oops()))
        #expect(async.error == nil)
        #expect(async.value is Oops)
        #expect(Async<any Error>(error: Oops()).value == nil)
        #expect(Async<any Error>(error: Oops()).error is Oops)
    }

    @Test func `Law 24: an Async may be the value of an Async`() async throws {
        let inner = Promise<Int>()
        let outer = Async(.success(inner.async))
        inner.succeed(1)
        #expect(try await outer.get().get() == 1)
    }

    @Test func `Law 10: the outcome lives as long as the Async, and is freed once`() {
        let sentinels = Sentinels()
        /// Reads the outcome twice; the sentinel then lives until the future is released.
        func check<Value: Sendable>(
            _ make: () -> Async<Value>, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            do {
                let async = make()
                for _ in 0..<2 { _ = async.outcome }
                async.onComplete { _ in }
                #expect(sentinels.living == 1, sourceLocation: sourceLocation)
            }
            #expect(sentinels.living == 0, sourceLocation: sourceLocation)
        }
        check { Async(.success(sentinels.make())) }
        check { Async(.success((sentinels.make(), 1, 2, 3))) }
        check { Async(.success(WideOwner(sentinel: sentinels.make()))) }
        check { Async(.success(Optional(sentinels.make()))) }
        check { Async(.success([sentinels.make()])) }
        check { Async(.success(sentinels.make() as any Error)) }
        check { Async(.success(sentinels.make() as any Sendable)) }
        check {
            let sentinel = sentinels.make()
            return Async(.success({ _ = sentinel } as @Sendable () -> Void))
        }
        check { Async<Int>(error: sentinels.make()) }
        check { Async<WideOwner>(error: sentinels.make()) }
        check { Async<any Error>(error: sentinels.make()) }
        check { Async(.success(Async(.success(sentinels.make())))) }
    }

    @Test func `Law 10: the value of a refused completion is freed at once`() {
        let sentinels = Sentinels()
        let promise = Promise<WideOwner>()
        promise.succeed(WideOwner(sentinel: sentinels.make()))
        #expect(sentinels.living == 1)
        #expect(!promise.succeed(WideOwner(sentinel: sentinels.make())))
        #expect(!promise.fail(sentinels.make()))
        #expect(!promise.complete(.success(WideOwner(sentinel: sentinels.make()))))
        #expect(sentinels.living == 1)
    }

    /// A future to which only the caller's next expression refers.
    @inline(never)
    private func ended<Value: Sendable>(with outcome: Result<Value, any Error>) -> Async<Value> {
        Async(outcome)
    }

    @Test func `Law 24: a value that was read from an Async outlives the Async`() {
        let sentinels = Sentinels()
        for _ in 0..<100 {
            let error = ended(with: Result<Int, any Error>.failure(sentinels.make())).error
            let object = ended(with: .success(sentinels.make())).value
            let list = ended(with: .success([sentinels.make(), sentinels.make()])).value
            let wide = ended(with: .success(WideOwner(sentinel: sentinels.make()))).value
            #expect(sentinels.living == 5)
            withExtendedLifetime((error, object, list, wide)) {}
        }
        #expect(sentinels.living == 0)
    }
}
