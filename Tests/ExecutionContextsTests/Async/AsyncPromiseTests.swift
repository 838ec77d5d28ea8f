import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A promise completes its `Async` once; the first completion wins and says so (law 24).
@Suite(.patient)
struct AsyncPromiseTests {
    /// A way to end a promise, with its outcome.
    enum Way: CaseIterable, Sendable {
        case succeed, fail, outcome, body, throwingBody, followEnded, cancel

        /// Whether this call ended it.
        func end(_ promise: Promise<Int>) -> Bool {
            switch self {
            case .succeed: promise.succeed(1)
            case .fail: promise.fail(Oops(number: 2))
            case .outcome: promise.complete(.success(3))
            case .body: promise.complete { 4 }
            case .throwingBody: promise.complete { throw Oops(number: 5) }
            case .followEnded: promise.follow(Async(.success(6)))
            case .cancel: promise.async.cancel()
            }
        }

        func isOutcome(of async: Async<Int>) -> Bool {
            switch self {
            case .succeed: async.value == 1
            case .fail: async.error as? Oops == Oops(number: 2)
            case .outcome: async.value == 3
            case .body: async.value == 4
            case .throwingBody: async.error as? Oops == Oops(number: 5)
            case .followEnded: async.value == 6
            case .cancel: async.error is CancellationError
            }
        }
    }

    @Test(arguments: Way.allCases, Way.allCases)
    func `Law 24: the first completion wins, and the second is refused without harm`(
        _ first: Way, _ second: Way
    ) {
        let promise = Promise<Int>()
        let calls = Box(0)
        promise.async.onComplete { _ in calls.withValue { $0 += 1 } }
        #expect(promise.async.outcome == nil)
        #expect(!promise.async.isCompleted)
        #expect(first.end(promise))
        #expect(first.isOutcome(of: promise.async))
        #expect(!second.end(promise))
        #expect(first.isOutcome(of: promise.async))
        #expect(promise.async.isCompleted)
        #expect(calls.value == 1)
    }

    @Test(arguments: Way.allCases)
    func `Law 24: a callback that ends its own promise again changes nothing`(_ way: Way) {
        let promise = Promise<Int>()
        let answers = Box<[Bool]>([])
        promise.async.onComplete { _ in answers.withValue { $0.append(way.end(promise)) } }
        promise.async.onComplete { _ in answers.withValue { $0.append(way.end(promise)) } }
        promise.succeed(7)
        #expect(answers.value == [false, false])
        #expect(promise.async.value == 7)
    }

    @Test func `Law 24: complete runs its body even if the promise has ended already`() {
        let promise = Promise<Int>()
        promise.succeed(1)
        let ran = Box(false)
        #expect(
            !promise.complete {
                ran.value = true
                return 2
            })
        #expect(ran.value)
    }

    @Test func `A body that ends its own promise does not complete it again`() {
        let promise = Promise<Int>()
        #expect(
            !promise.complete {
                promise.succeed(1)
                return 2
            })
        #expect(promise.async.value == 1)
    }

    @Test func `Law 24: a future that was made with its outcome cannot be cancelled`() {
        for async in [Async(.success(1)), Async(error: Oops()), Async(.success(1))] {
            #expect(async.isCompleted)
            #expect(!async.cancel())
            #expect(!(async.error is CancellationError))
        }
    }

    // MARK: - Following

    @Test func `A promise that follows another Async ends as that one does`() {
        let (sources, followers) = (
            [Promise<Int>(), Promise<Int>(), Promise<Int>()],
            [Promise<Int>(), Promise<Int>(), Promise<Int>()]
        )
        for (source, follower) in zip(sources, followers) {
            #expect(follower.follow(source.async))
            #expect(!follower.async.isCompleted)
        }
        sources[0].succeed(1)
        sources[1].fail(Oops())
        sources[2].async.cancel()
        #expect(followers[0].async.value == 1)
        #expect(followers[1].async.error is Oops)
        #expect(followers[2].async.error is CancellationError)
        // The optimizer releases a promise after its last use, here before it is cancelled.
        withExtendedLifetime(sources) {}
    }

    @Test func `Law 24: a promise that follows one Async refuses to follow another one`() {
        let (first, second, promise) = (Promise<Int>(), Promise<Int>(), Promise<Int>())
        let log = Box<[String]>([])
        for (name, source) in [("first", first), ("second", second)] {
            source.async.onComplete { _ in log.withValue { $0.append("\(name) before") } }
        }
        promise.async.onComplete { _ in log.withValue { $0.append("promise") } }
        #expect(promise.follow(first.async))
        #expect(!promise.follow(second.async))
        for (name, source) in [("first", first), ("second", second)] {
            source.async.onComplete { _ in log.withValue { $0.append("\(name) after") } }
        }
        second.succeed(2)
        #expect(!promise.async.isCompleted)
        first.succeed(1)
        #expect(promise.async.value == 1)
        #expect(
            log.value == [
                "second before", "second after", "first before", "promise", "first after",
            ])
    }

    @Test func `Law 24: a promise that follows may be completed by hand before its source is`() {
        let (source, promise) = (Promise<Int>(), Promise<Int>())
        source.async.onComplete { _ in }
        promise.follow(source.async)
        #expect(promise.succeed(1))
        #expect(source.succeed(2))
        #expect(promise.async.value == 1)
    }

    @Test
    func `Law 26: a promise that was completed by hand has no interest in the Async it followed`() {
        let (source, promise) = (Promise<Int>(), Promise<Int>())
        promise.follow(source.async)
        let branch = source.async.map { $0 }
        promise.succeed(1)
        #expect(!source.async.isCompleted)
        branch.cancel()
        #expect(source.async.error is CancellationError)
    }

    @Test func `Law 26: completing a follower by hand cancels the Async that it alone followed`() {
        let (source, promise) = (Promise<Int>(), Promise<Int>())
        promise.follow(source.async)
        promise.fail(Oops())
        #expect(source.async.error is CancellationError)
    }

    @Test
    func
        `Law 26: an Async that an ended promise is to follow is cancelled if it has no subscriber`()
    {
        let (wanted, unwanted, promise) = (Promise<Int>(), Promise<Int>(), Promise<Int>())
        promise.succeed(1)
        wanted.async.onComplete { _ in }
        promise.follow(wanted.async)
        promise.follow(unwanted.async)
        #expect(!wanted.async.isCompleted)
        #expect(unwanted.async.error is CancellationError)
    }

    @Test func `Law 24: a promise that is to follow itself ends with the error waitsForItself`() {
        let promise = Promise<Int>()
        promise.follow(promise.async)
        #expect(promise.async.error as? AsyncError == .waitsForItself)
    }

    @Test func `Law 26: a promise may be released while it follows`() {
        let source = Promise<Int>()
        let async: Async<Int>
        do {
            let promise = Promise<Int>()
            promise.follow(source.async)
            async = promise.async
        }
        #expect(!async.isCompleted)
        source.succeed(1)
        #expect(async.value == 1)
    }

    @Test
    func `Law 26: a chain of followers ends with the error of its first promise, which is dropped`()
        throws
    {
        var head: Promise<Int>? = Promise()
        var last = Promise<Int>()
        last.follow(try #require(head).async)
        for _ in 0..<10 {
            let next = Promise<Int>()
            next.follow(last.async)
            last = next
        }
        head = nil
        #expect("\(try #require(last.async.error))".contains("AsyncPromiseTests.swift"))
    }
}
