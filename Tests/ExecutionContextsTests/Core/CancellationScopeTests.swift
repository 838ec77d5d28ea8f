import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// What a scope cancels, when, and what it keeps.
@Suite(.patient)
struct CancellationScopeTests {
    /// A handle that logs its cancellation.
    private final class Handle: CancellationHandle {
        let name: String
        private let log: Box<[String]>
        private let ended = Box(false)

        init(_ name: String, _ log: Box<[String]>) {
            self.name = name
            self.log = log
        }

        func cancel() -> Bool {
            log.withValue { $0.append(name) }
            return true
        }

        func end() { ended.value = true }

        var isFinished: Bool { ended.value }
    }

    /// A component that starts something of each kind, and owns a scope.
    private final class Owner: Sendable {
        let scope = CancellationScope()
        let ticks = Box(0)
        let promise = Promise<Int>()

        init(on context: ManualContext, calls: Box<[String]>, freed: Box<Int>) {
            let end = Ending(freed)
            context.schedule(after: .seconds(1)) { [end] in
                calls.withValue { $0.append("delay \(end)") }
            }.stored(in: scope)
            context.schedule(every: .seconds(1)) { [end] in
                calls.withValue { $0.append("repetition \(end)") }
            }.stored(in: scope)
            context.submit { [end] in calls.withValue { $0.append("job \(end)") } }
                .stored(in: scope)
            promise.async.map { [end] in "\($0) \(end)" }.stored(in: scope)
            promise.async.onSuccess(on: context, while: scope.token) { [end] _ in
                calls.withValue { $0.append("callback \(end)") }
            }
            context.valid(while: scope.token).execute { [end] in
                calls.withValue { $0.append("view \(end)") }
            }
        }

        final class Ending: Sendable {
            let freed: Box<Int>
            init(_ freed: Box<Int>) { self.freed = freed }
            deinit { freed.withValue { $0 += 1 } }
        }
    }

    @Test func `Law 37: an owner that goes away cancels all that it started, at once`() {
        let (calls, freed) = (Box<[String]>([]), Box(0))
        let context = ManualContext()
        var owner: Owner? = Owner(on: context, calls: calls, freed: freed)
        #expect(context.delayedCount == 2)
        let isWanted = Box(true)
        owner?.promise.onCancel { isWanted.value = false }
        let promise = owner?.promise
        owner = nil
        #expect(context.delayedCount == 0)
        #expect(!isWanted.value)
        #expect(promise?.async.isCompleted == true)
        // The view's own job is freed by the context, when it drops it.
        context.runReady()
        #expect(freed.value == 1)
        context.advance(by: .seconds(10))
        #expect(calls.value == [])
    }

    @Test func `Law 37: the token comes first, then the handles in the order of storing`() {
        let log = Box<[String]>([])
        let scope = CancellationScope()
        let context = ManualContext()
        let promise = Promise<Void>()
        promise.onCancel { log.withValue { $0.append("token") } }
        promise.async.onSuccess(on: context, while: scope.token) { _ in }
        for name in ["a", "b", "c"] { Handle(name, log).stored(in: scope) }
        #expect(scope.cancel())
        #expect(!scope.cancel())
        #expect(scope.isCancelled && !scope.token.isValid)
        #expect(log.value == ["token", "a", "b", "c"])
    }

    @Test func `Law 37: what is stored in a cancelled scope is cancelled at once`() {
        let log = Box<[String]>([])
        let scope = CancellationScope()
        scope.cancel()
        Handle("late", log).stored(in: scope)
        #expect(log.value == ["late"])
        let promise = Promise<Int>()
        promise.async.stored(in: scope)
        #expect(throws: CancellationError.self) { try promise.async.outcome?.get() }
    }

    @Test func `Law 37: a scope releases what has finished`() {
        let log = Box<[String]>([])
        let scope = CancellationScope()
        weak var first: Handle?
        var pending: [Handle] = []
        for number in 0..<10_000 {
            let handle = Handle("\(number)", log).stored(in: scope)
            if number == 0 { first = handle }
            if number % 100 == 0 { pending.append(handle) } else { handle.end() }
        }
        pending[0].end()
        pending.removeFirst()
        for number in 0..<400 { Handle("more \(number)", log).stored(in: scope).end() }
        #expect(first == nil)
        scope.cancel()
        #expect(log.value.count { !$0.hasPrefix("more") } <= 2 * 100 + 16)
        #expect(pending.allSatisfy { log.value.contains($0.name) })
    }

    @Test func `Law 37: a scope keeps no value of a future that has completed`() {
        final class Picture: Sendable {}
        let scope = CancellationScope()
        weak var picture: Picture?
        do {
            let promise = Promise<Picture>()
            promise.async.stored(in: scope)
            let value = Picture()
            picture = value
            promise.succeed(value)
        }
        #expect(picture == nil)
        withExtendedLifetime(scope) {}
    }

    @Test func `Law 9: a handle may use its scope while it is cancelled`() {
        let scope = CancellationScope()
        let promise = Promise<Void>()
        promise.onCancel { [weak scope] in
            scope?.cancel()
            if let scope { Promise<Void>().async.stored(in: scope) }
        }
        promise.async.stored(in: scope)
        #expect(scope.cancel())
    }

    @Test func `Law 37: a cancellation and handles that are stored at the same time`() async {
        await underEverySchedule("scope") { sim, _ in
            let scope = CancellationScope()
            let log = Box<[String]>([])
            sim.spawn("storing") {
                for number in 0..<18 {
                    let handle = Handle("\(number)", log)
                    if number < 15 { handle.end() }
                    scope.store(handle)
                }
            }
            sim.spawn("cancelling") { scope.cancel() }
            sim.finally("all are cancelled") {
                ["15", "16", "17"].allSatisfy { name in log.value.count { $0 == name } == 1 }
            }
        }
    }

    @Test func `Law 37: no handle is cancelled while the token is valid`() async {
        await underEverySchedule("token first") { sim, onlooker in
            let scope = CancellationScope()
            let promise = Promise<Void>()
            promise.onCancel {
                onlooker.expect(!scope.token.isValid, "cancelled before the token")
            }
            sim.spawn("storing") { promise.async.stored(in: scope) }
            sim.spawn("cancelling") { scope.cancel() }
        }
    }
}
