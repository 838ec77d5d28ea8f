import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// No caller's deadline reaches what runs on its thread for another caller (law 38): each way to
/// complete a future, with each closure that can wait for it, on each kind of context that runs
/// jobs on the thread of another caller; with and without deadlines of the two.
@Suite(.patient)
struct DeadlineLeakTests {
    typealias Note = @Sendable () -> Void

    struct Case<Body: Sendable>: CustomTestStringConvertible, Sendable {
        let name: String
        let body: Body

        init(_ name: String, _ body: Body) { (self.name, self.body) = (name, body) }

        var testDescription: String { name }
    }

    private struct Oops: Error {}

    /// Runs jobs on the caller, as a user may write it.
    private struct OnTheCaller: ExecutionContext {
        var name: String { "on the caller" }

        func execute(_ work: @escaping Work) { work() }
    }

    // MARK: Completing

    /// A future, and what completes it.
    typealias Source = (async: Async<Int>, complete: @Sendable () -> Void)

    static let completers: [Case<@Sendable () -> Source>] = [
        Case("succeed") {
            let promise = Promise<Int>()
            return (promise.async, { promise.succeed(1) })
        },
        Case("fail") {
            let promise = Promise<Int>()
            return (promise.async, { promise.fail(Oops()) })
        },
        Case("cancel") {
            let promise = Promise<Int>()
            return (promise.async, { promise.async.cancel() })
        },
        Case("release") {
            let promise = Box<Promise<Int>?>(Promise<Int>())
            return (promise.value!.async, { promise.value = nil })
        },
        Case("follow") {
            let (promise, other) = (Promise<Int>(), Promise<Int>())
            promise.follow(other.async)
            return (promise.async, { other.succeed(1) })
        },
        Case("a job") {
            let context = ManualContext(name: "manual")
            return (context.submit { 1 }, { context.runReady() })
        },
        Case("a queue's job") {
            let queue = PrioritizedQueue(on: .immediate, limit: 0)
            return (queue.submit { 1 }.async, { queue.limit = 1 })
        },
        Case("a flight") {
            let flights = Box<[Flight<Int>]>([])
            let flight = SingleFlight<Int, Int>(on: ImmediateContext().serial()) { _, flight in
                flights.withValue { $0.append(flight) }
            }
            return (flight[0].value(), { _ = flights.value.first?.succeed(1) })
        },
        Case("a delay") {
            let context = ManualContext(name: "manual")
            return (
                Async(.success(1)).delay(.seconds(1), on: context),
                { context.advance(by: .seconds(1)) }
            )
        },
    ]

    // MARK: Waiting

    static let closures:
        [Case<@Sendable (Async<Int>, any ExecutionContext, @escaping Note) -> Void>] =
            [
                Case("onComplete") { async, context, note in
                    async.onComplete(on: context) { _ in note() }
                },
                Case("onSuccess") { async, context, note in
                    async.onSuccess(on: context) { _ in note() }
                },
                Case("onFailure") { async, context, note in
                    async.onFailure(on: context) { _ in note() }
                },
                Case("tap") { async, context, note in _ = async.tap(on: context) { _ in note() } },
                Case("andThen") { async, context, note in
                    _ = async.andThen(on: context) { _ in note() }
                },
                Case("map") { async, context, note in _ = async.map(on: context) { _ in note() } },
                Case("flatMap") { async, context, note in
                    async.flatMap(on: context) { _ -> Async<Int> in
                        note()
                        return Async(.success(1))
                    }.onSuccess { _ in note() }
                },
                Case("mapError") { async, context, note in
                    _ = async.mapError(on: context) {
                        note()
                        return $0
                    }
                },
                Case("recover") { async, context, note in
                    _ = async.recover(on: context) { _ in
                        note()
                        return 1
                    }
                },
                Case("flatRecover") { async, context, note in
                    _ = async.flatRecover(on: context) { _ in
                        note()
                        return Async(.success(1))
                    }
                },
                Case("lazy") { async, context, note in
                    let lazy = Async.lazy(on: context) {
                        note()
                        return async
                    }
                    async.onComplete { _ in lazy.onComplete { _ in note() } }
                },
                Case("onCancel") { async, context, note in
                    let promise = Promise<Int>()
                    promise.onCancel { note() }
                    async.onComplete(on: context) { _ in promise.async.cancel() }
                },
                Case("while a token") { async, context, note in
                    async.onComplete(on: context, while: InvalidationToken()) { _ in note() }
                },
            ]

    static let contexts: [Case<@Sendable () -> any ExecutionContext>] = [
        Case("immediate") { .immediate },
        Case("a user's") { OnTheCaller() },
        Case("serial") { OnTheCaller().serial() },
        Case("limited") { OnTheCaller().limited(to: 2) },
        Case("queue") { PrioritizedQueue(on: .immediate, limit: 2).context() },
        Case("inline if current") { OnTheCaller().serial().inlineIfCurrent() },
        Case("ending") { EndingSerialContext(on: .immediate) },
        Case("a thread's") { GlobalContext().serial() },
    ]

    private static func with(_ limit: Duration?, _ body: () -> Void) {
        guard let limit else { return body() }
        withDeadline(in: limit, on: .immediate, body)
    }

    @Test(arguments: completers, closures)
    func `Law 38: callbacks and operators have no deadline of who completes the future`(
        completer: Case<@Sendable () -> Source>,
        closure: Case<@Sendable (Async<Int>, any ExecutionContext, @escaping Note) -> Void>
    ) async {
        let seen = Box<[String]>([])
        await offThePool {
            for context in Self.contexts {
                for (own, other, isLate) in Self.deadlines {
                    let at = "\(context.name), \(own as Any), \(other as Any), \(isLate)"
                    let (where_, source) = (context.body(), completer.body())
                    let subscribe = {
                        Self.with(own) {
                            closure.body(source.async, where_) {
                                if Deadline.current != nil { seen.withValue { $0.append(at) } }
                            }
                        }
                    }
                    if !isLate { subscribe() }
                    Self.with(other) { source.complete() }
                    if isLate { subscribe() }
                    // What was submitted before has run.
                    try? where_.submit {}.wait()
                }
            }
        }
        #expect(seen.value == [])
    }

    /// The subscriber's, the completing caller's, and whether the subscriber comes later.
    private static let deadlines: [(Duration?, Duration?, Bool)] = [
        (nil, Patience.event, false), (Patience.event / 2, Patience.event, false),
        (Patience.event / 2, nil, true),
        (Patience.event / 2, nil, false),
    ]

    // MARK: Jobs

    typealias Submit = @Sendable (any ExecutionContext, @escaping Note) -> Void

    static let jobs: [Case<Submit>] = [
        Case("submit") { context, note in context.submit { note() } },
        Case("queue") { context, note in
            _ = PrioritizedQueue(on: context, limit: 1).submit { note() }
        },
        Case("open work") { context, note in
            PrioritizedQueue(on: context, limit: 1).submitOpen(of: Int.self) { work in
                note()
                work.succeed(1)
            }
        },
        Case("limiter") { context, note in
            _ = RateLimiter(on: context, rate: 1_000).submit { note() }
        },
        Case("confined") { context, note in
            Confined(0, to: context.serial()).submit { _ in note() }
        },
        Case("retry") { context, note in
            _ = Async<Int>.retry(attempts: 2, on: context) { _ in
                note()
                return Async(error: Oops())
            }
        },
        Case("traverse") { context, note in
            _ = Async<Int>.traverse([1, 2], atMost: 1, on: context) { _ in
                note()
                return Async(.success(1))
            }
        },
    ]

    static let views: [Case<@Sendable (ManualContext) -> any ExecutionContext>] = [
        Case("itself") { $0 },
        Case("serial") { $0.serial() },
        Case("limited") { $0.limited(to: 1) },
        Case("bounded") { $0.bounded(to: 9, overflow: .refuse) },
        Case("named") { $0.named("n") },
        Case("inline if current") { $0.inlineIfCurrent() },
        Case("queue") { PrioritizedQueue(on: $0, limit: 1).context() },
        Case("ending") { EndingSerialContext(on: $0) },
    ]

    @Test(arguments: jobs, views)
    func `Law 38: a job with a result has its submitter's deadline on any thread`(
        job: Case<Submit>, view: Case<@Sendable (ManualContext) -> any ExecutionContext>
    ) {
        for (own, other, _) in Self.deadlines {
            let base = ManualContext(name: "manual")
            let context = view.body(base)
            let seen = Box<[Deadline?]>([])
            let submitter = Box<Deadline?>(nil)
            Self.with(own) {
                submitter.value = Deadline.current
                job.body(context) { seen.withValue { $0.append(Deadline.current) } }
            }
            Self.with(other) {
                for _ in 0..<9 {
                    base.runReady()
                    base.advance(by: .seconds(1))
                }
            }
            #expect(!seen.value.isEmpty)
            for deadline in seen.value { #expect(deadline === submitter.value) }
        }
    }

    @Test(arguments: views)
    func `Law 38: a job without a result has no deadline of the caller that runs it`(
        view: Case<@Sendable (ManualContext) -> any ExecutionContext>
    ) {
        let base = ManualContext(name: "manual")
        let seen = Box<[Deadline?]>([])
        view.body(base).execute { seen.withValue { $0.append(Deadline.current) } }
        Self.with(Patience.event) { base.runReady() }
        #expect(seen.value.count == 1)
        #expect(seen.value.allSatisfy { $0 == nil })
    }
}
