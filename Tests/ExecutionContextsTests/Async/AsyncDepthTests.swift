import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A chain of futures, of any length and kind, needs only a small stack (laws 25 and 26).
///
/// Unbounded nesting overflows such a stack after one or two thousand links. Most chains here have
/// some thousand links. With `EXECUTION_CONTEXTS_LONG=1` they have a million.
@Suite(.patient)
struct AsyncDepthTests {
    static let veryMany = isLongRun ? 1_000_000 : rounds(debug: 100_000, release: 1_000_000)
    static let many = isLongRun ? veryMany : rounds(debug: 2_500, release: 5_000)
    /// Swift Testing records each thrown error, and all of its tests wait meanwhile.
    static let fewThrows = isLongRun ? 100_000 : 2_000

    /// How the head of a chain ends.
    enum Ending: CaseIterable, Sendable {
        case succeeded, failed, dropped, cancelled

        func apply(to head: inout Promise<Int>?) {
            switch self {
            case .succeeded: head?.succeed(0)
            case .failed: head?.fail(Oops())
            case .dropped: break
            case .cancelled: head?.async.cancel()
            }
            head = nil
        }

        /// Whether `async`, the last of the chain, has ended accordingly.
        func isEnd(of async: Async<Int>) -> Bool {
            switch self {
            case .succeeded: async.value != nil
            case .failed: async.error is Oops
            case .dropped: async.error is AsyncError
            case .cancelled: async.error is CancellationError
            }
        }
    }

    /// A kind of link from one future to the next.
    struct Link: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Whether the next future fails with the same error. If not, its promise is released.
        let passesErrors: Bool
        let length: Int
        let next: @Sendable (Async<Int>) -> Async<Int>

        init(
            _ name: String, passesErrors: Bool = true, length: Int = many,
            _ next: @escaping @Sendable (Async<Int>) -> Async<Int>
        ) {
            testDescription = name
            self.passesErrors = passesErrors
            self.length = length
            self.next = next
        }

        static let all: [Link] = [
            Link("a promise that a callback for values completes", passesErrors: false) { source in
                let promise = Promise<Int>()
                source.onSuccess { promise.succeed($0) }
                return promise.async
            },
            Link("a promise that a callback completes") { source in
                let promise = Promise<Int>()
                source.onComplete { promise.complete($0) }
                return promise.async
            },
            Link("a promise that a callback of a token completes", passesErrors: false) { source in
                let promise = Promise<Int>()
                source.onComplete(while: InvalidationToken()) { outcome in
                    if case .success(let value) = outcome { promise.succeed(value) }
                }
                return promise.async
            },
            Link("a promise that follows") { source in
                let promise = Promise<Int>()
                promise.follow(source)
                return promise.async
            },
            Link("a completion handler", passesErrors: false) { source in
                .fromCallback { done in source.onSuccess { done($0, nil) } }
            },
            Link("map") { $0.map { $0 } },
            Link("flatMap") { $0.flatMap { Async(.success($0)) } },
            Link("mapError") { $0.mapError { $0 } },
            Link("recover", length: fewThrows) { $0.recover { throw $0 } },
            Link("flatRecover") { $0.flatRecover { Async(error: $0) } },
            Link("all") { Async.all([$0]).map { $0[0] } },
            Link("first") { Async.first(of: [$0]) },
            Link("firstSuccess") { Async.firstSuccess(of: [$0]) },
            Link("allSettled", length: fewThrows) {
                Async.allSettled([$0]).map { try $0[0].get() }
            },
            Link("firstCompletion", length: fewThrows) {
                Async.firstCompletion(of: [$0]).map { try $0.outcome.get() }
            },
            Link("andThen") { $0.andThen { _ in } },
            Link("lazy") { source in Async.lazy { source }.map { $0 } },
            Link("zip") { $0.zip(Async(.success(1))).map { $0.0 } },
            Link("shielded") { $0.shielded() },
            Link("traverse") { source in
                Async.traverse([source], atMost: 1) { $0 }.map { $0[0] }
            },
        ]

        func chain(_ length: Int? = nil, from head: Async<Int>) -> Async<Int> {
            var end = head
            for _ in 0..<(length ?? self.length) { end = next(end) }
            return end
        }
    }

    @Test(arguments: Link.all, Ending.allCases)
    func `Law 25: a chain of any length and kind ends on a small stack, however its head ends`(
        _ link: Link, _ ending: Ending
    ) async {
        await onSmallStack {
            var head: Promise<Int>? = Promise()
            let end = link.chain(from: head!.async)
            ending.apply(to: &head)
            let isRight = ending == .succeeded || link.passesErrors
            #expect(isRight ? ending.isEnd(of: end) : end.error is AsyncError)
        }
    }

    @Test(arguments: isLongRun ? Ending.allCases : [.failed])
    func
        `Law 25: very many promises that callbacks link end on a small stack, however the head ends`(
            _ ending: Ending
        ) async
    {
        await onSmallStack {
            var head: Promise<Int>? = Promise()
            let end = Link.all[0].chain(Self.veryMany, from: head!.async)
            ending.apply(to: &head)
            #expect(ending == .succeeded ? end.value == 0 : end.error is AsyncError)
        }
    }

    @Test(arguments: Link.all)
    func `Law 26: cancelling the end of a chain of any kind does not overflow a small stack`(
        _ link: Link
    )
        async
    {
        await onSmallStack {
            let head = Promise<Int>()
            let end = link.chain(from: head.async)
            #expect(end.cancel())
            #expect(end.error is CancellationError)
        }
    }

    @Test(arguments: Link.all)
    func `A chain of any length and kind can be described on a small stack`(_ link: Link) async {
        await onSmallStack {
            let head = Promise<Int>()
            let end = link.chain(from: head.async)
            #expect("\(end)".hasPrefix("Async(waits for "))
            head.succeed(1)
        }
    }

    /// Without `traverse`. It keeps the user's sequence until the sequence has ended. The sequence
    /// has the source here.
    @Test(arguments: Link.all.filter { $0.testDescription != "traverse" })
    func `Law 10: a chain whose head never completes is freed on a small stack`(_ link: Link) async
    {
        await onSmallStack {
            let sentinels = Sentinels()
            do {
                let sentinel = sentinels.make()
                let never = Async(.success(1)).delay(.nanoseconds(Int64.max), on: .global)
                let end = link.chain(from: never)
                end.onComplete { _ in _ = sentinel }
                #expect(!end.isCompleted)
            }
            #expect(sentinels.living == 0)
        }
    }
}
