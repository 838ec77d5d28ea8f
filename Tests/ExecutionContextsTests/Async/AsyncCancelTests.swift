import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Dropping a promise ends its `Async`; cancelling goes up when the last party leaves (law 26).
@Suite(.timeLimit(.minutes(30)))
struct AsyncCancelTests {
    /// A party of an `Async`, and how it leaves.
    struct Visitor: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Joins, and returns how to leave.
        let visit: @Sendable (Async<Int>) -> Work

        init(_ name: String, _ visit: @escaping @Sendable (Async<Int>) -> Work) {
            testDescription = name
            self.visit = visit
        }

        /// One that is derived, and leaves by being cancelled.
        init<Value: Sendable>(
            deriving name: String, _ derive: @escaping @Sendable (Async<Int>) -> Async<Value>
        ) {
            self.init(name) { source in
                let derived = derive(source)
                return { derived.cancel() }
            }
        }

        static let all: [Visitor] = [
            Visitor("a callback with a token") { source in
                let token = InvalidationToken()
                source.onComplete(while: token) { _ in }
                return { token.invalidate() }
            },
            Visitor("a callback with a token on a context") { source in
                let token = InvalidationToken()
                source.onComplete(on: .global, while: token) { _ in }
                return { token.invalidate() }
            },
            Visitor("a task that owns it") { source in
                let task = startedTask { try await source.getOrCancel() }
                return { task.cancel() }
            },
            Visitor("a promise that follows") { source in
                let promise = Promise<Int>()
                promise.follow(source)
                return { promise.async.cancel() }
            },
            Visitor("a promise that follows and is completed by hand") { source in
                let promise = Promise<Int>()
                promise.follow(source)
                return { promise.succeed(1) }
            },
            Visitor(deriving: "map") { $0.map { $0 } },
            Visitor(deriving: "map on a context") { $0.map(on: .global) { $0 } },
            Visitor(deriving: "flatMap") { $0.flatMap { Async(.success($0)) } },
            Visitor(deriving: "flatMap whose function ran") { source in
                Async(.success(1)).flatMap { _ in source }
            },
            Visitor(deriving: "mapError") { $0.mapError { $0 } },
            Visitor(deriving: "recover") { $0.recover { _ in 1 } },
            Visitor(deriving: "flatRecover") { $0.flatRecover { _ in Async(.success(1)) } },
            Visitor(deriving: "flatRecover whose function ran") { source in
                Async(error: Oops()).flatRecover { _ in source }
            },
            Visitor(deriving: "mapError on a context") { $0.mapError(on: .global) { $0 } },
            Visitor(deriving: "delay") { $0.delay(.seconds(1000), on: .global) },
            Visitor(deriving: "timeout") { $0.timeout(after: .seconds(1000), on: .global) },
            Visitor(deriving: "a delay that never ends") { $0.delay(.infinity, on: .global) },
            Visitor(deriving: "a timeout that never comes") { $0.timeout(after: .infinity, on: .global) },
            Visitor(deriving: "a timeout at the end of time") {
                $0.timeout(after: .nanoseconds(Int64.max), on: .global)
            },
            Visitor(deriving: "shared") { $0.shared() },
            Visitor(deriving: "recorded") { $0.recorded(by: Recorder(), as: "value") },
            Visitor(deriving: "zip of three") { $0.zip($0, Promise<Int>.undropped()) },
            Visitor(deriving: "zip") { $0.zip(Promise<Int>.undropped()) },
            Visitor(deriving: "zip with itself") { $0.zip($0) },
            Visitor(deriving: "a diamond") { $0.map { $0 }.zip($0.map { $0 }, $0) },
            Visitor(deriving: "all") { Async.all([$0, $0.map { $0 }]) },
            Visitor(deriving: "first") { Async.first(of: [$0, $0.delay(1, on: .global)]) },
            Visitor(deriving: "firstSuccess") { Async.firstSuccess(of: [Async(error: Oops()), $0]) },
            Visitor("all that failed otherwise") { source in
                let other = Promise<Int>()
                let all = Async.all([source, other.async])
                return {
                    other.fail(Oops())
                    #expect(all.isCompleted)
                }
            },
            Visitor("first that was decided otherwise") { source in
                let other = Promise<Int>()
                let first = Async.first(of: [source, other.async])
                return {
                    other.succeed(2)
                    #expect(first.isCompleted)
                }
            },
            Visitor(deriving: "retry") { source in Async.retry(3, on: .immediate) { _ in source } },
            Visitor(deriving: "traverse") { source in Async.traverse(0..<3, atMost: 2) { _ in source } },
            Visitor("a traverse that failed otherwise") { source in
                let other = Promise<Int>()
                let all = Async.traverse(0..<3, atMost: 3) { $0 == 1 ? other.async : source }
                return {
                    other.fail(Oops())
                    #expect(all.isCompleted)
                }
            },
            Visitor("a timeout that ran out") { source in
                let context = ManualContext()
                let timed = source.timeout(after: .seconds(1), on: context)
                return {
                    context.advance(by: .seconds(1))
                    #expect(timed.isCompleted)
                }
            },
            Visitor(deriving: "a long chain") { source in
                (0..<100).reduce(source) { chain, _ in chain.map { $0 }.flatMap { Async(.success($0)) } }
            },
        ]
    }

    @Test(arguments: Visitor.all)
    func `Law 26: when the only party leaves, the promise is cancelled`(_ visitor: Visitor) async {
        await watched {
            let promise = Promise<Int>()
            let cancellations = Box(0)
            promise.onCancel { cancellations.withValue { $0 += 1 } }
            let leave = visitor.visit(promise.async)
            #expect(!promise.async.isCompleted)
            leave()
            waitUntil { promise.async.isCompleted }
            #expect(promise.async.error is CancellationError)
            waitUntil { cancellations.value > 0 }
            leave()
            #expect(cancellations.value == 1)
        }
    }

    @Test(arguments: Visitor.all, Visitor.all)
    func `Law 26: the first of two parties leaves the promise to the other one, the last one takes it along`(
        _ first: Visitor, _ second: Visitor
    ) async {
        await watched {
            let promise = Promise<Int>()
            let leaveFirst = first.visit(promise.async)
            let leaveSecond = second.visit(promise.async)
            leaveFirst()
            #expect(!promise.async.isCompleted)
            leaveSecond()
            waitUntil { promise.async.isCompleted }
            #expect(promise.async.error is CancellationError)
        }
    }

    @Test(arguments: Visitor.all)
    func `Law 26: who leaves after the end changes nothing`(_ visitor: Visitor) async {
        await watched {
            let promise = Promise<Int>()
            let cancellations = Box(0)
            promise.onCancel { cancellations.withValue { $0 += 1 } }
            let leave = visitor.visit(promise.async)
            promise.succeed(1)
            leave()
            #expect(promise.async.value == 1)
            #expect(cancellations.value == 0)
        }
    }

    @Test(arguments: Visitor.all)
    func `Law 26: a callback keeps the promise whatever others do`(_ visitor: Visitor) async {
        await watched {
            let promise = Promise<Int>()
            let calls = Box(0)
            promise.async.onComplete { _ in calls.withValue { $0 += 1 } }
            visitor.visit(promise.async)()
            #expect(!promise.async.isCompleted)
            promise.succeed(1)
            #expect(calls.value == 1)
        }
    }

    @Test(arguments: Visitor.all)
    func `Law 26: a shielded Async keeps the promise when what came of it is cancelled`(_ visitor: Visitor)
        async
    {
        await watched {
            let promise = Promise<Int>()
            let shielded = promise.async.shielded()
            visitor.visit(shielded)()
            waitUntil { shielded.isCompleted }
            #expect(shielded.error is CancellationError)
            #expect(!promise.async.isCompleted)
            // It stays, also when everybody else goes.
            visitor.visit(promise.async)()
            #expect(!promise.async.isCompleted)
        }
    }
}
