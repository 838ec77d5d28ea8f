import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// Functions that return `Never`, as command line tools have.
///
/// In such a function the optimizer drops a promise without its `deinit`, and releases early what
/// the promise refers to. So no link between futures may depend on either.
let endings: [(name: String, body: @Sendable () -> Never)] = [
    ("timeout", timeoutRunsOut), ("timeout of an extended promise", timeoutOfExtendedPromise),
    ("delay", delayIsDue),
    ("chain", chainIsCancelled), ("combinators", combinatorsAreCancelled),
    ("token", tokenIsInvalidated),
    ("followed", followedIsCancelled), ("retry", retryIsDue), ("described", describedAndAwaited),
    ("context", contextIsDropped), ("dispatch main", servesMain), ("write", endsInsideWrite),
    ("read", endsInsideRead),
]

@inline(never)
private func timeoutRunsOut() -> Never {
    let manual = ManualContext(), promise = Promise<Int>()
    promise.async.timeout(after: .seconds(3), on: manual).onFailure { _ in }
    manual.advance(by: .seconds(4))
    exit(0)
}

@inline(never)
private func timeoutOfExtendedPromise() -> Never {
    let manual = ManualContext(), promise = Promise<Int>()
    promise.async.map { $0 }.timeout(after: .seconds(3), on: manual).map { $0 }.onFailure { _ in }
    manual.advance(by: .seconds(4))
    withExtendedLifetime(promise) {}
    exit(0)
}

@inline(never)
private func delayIsDue() -> Never {
    let manual = ManualContext(), promise = Promise<Int>(), never = Promise<Int>()
    let delayed = promise.async.delay(.seconds(1), on: manual).map { $0 }
    never.async.delay(.seconds(Int64.max), on: manual).map { $0 }.onSuccess { _ in }
    promise.succeed(1)
    manual.advance(by: .seconds(2))
    delayed.cancel()
    exit(0)
}

@inline(never)
private func chainIsCancelled() -> Never {
    let manual = ManualContext(), promise = Promise<Int>(), inner = Promise<Int>()
    let mapped = promise.async.map { $0 }.map(on: manual) { $0 }.recover { _ in 1 }
    let other = Promise<Int>()
    let flat = other.async.flatMap { _ in inner.async }.mapError { $0 }.map { $0 }
    other.succeed(1)
    mapped.cancel()
    flat.cancel()
    manual.runReady()
    exit(0)
}

@inline(never)
private func combinatorsAreCancelled() -> Never {
    let first = Promise<Int>(), second = Promise<Int>()
    let fastest = Async.first(of: [first.async.map { $0 }, second.async])
    let all = Async.all([first.async.map { $0 }, second.async.map { $0 }])
    let either = Async.firstSuccess(of: [first.async, Promise<Int>().async])
    let pair = first.async.zip(second.async.map { $0 })
    let walked = Async.traverse(0..<3, atMost: 2) { _ in second.async.map { $0 } }
    fastest.cancel()
    walked.cancel()
    pair.cancel()
    second.succeed(1)
    all.cancel()
    either.cancel()
    exit(0)
}

@inline(never)
private func tokenIsInvalidated() -> Never {
    let promise = Promise<Int>(), token = InvalidationToken()
    promise.async.map { $0 }.onComplete(while: token) { _ in }
    promise.async.onComplete(on: .global, while: token) { _ in }
    token.invalidate()
    exit(0)
}

@inline(never)
private func followedIsCancelled() -> Never {
    let promise = Promise<Int>(), followed = Promise<Int>(), last = Promise<Int>()
    promise.onCancel { last.fail(CancellationError()) }
    followed.follow(promise.async.map { $0 })
    followed.async.onFailure { _ in }
    followed.succeed(1)
    last.async.map { $0 }.cancel()
    promise.async.cancel()
    exit(0)
}

@inline(never)
private func retryIsDue() -> Never {
    let manual = ManualContext(), promise = Promise<Int>()
    let retried = Async<Int>.retry(attempts: 3, backoff: .constant(.seconds(1)), on: manual) {
        attempt in
        attempt == 3 ? promise.async : Async(error: CancellationError())
    }
    retried.map { $0 }.timeout(after: .seconds(9), on: manual).onFailure { _ in }
    manual.advance(by: .seconds(20))
    exit(0)
}

@inline(never)
private func describedAndAwaited() -> Never {
    let promise = Promise<Int>()
    let end = promise.async.map { $0 }.map { $0 }
    _ = "\(end)"
    _ = try? end.wait(timeout: .milliseconds(1))
    exit(0)
}

@inline(never)
private func contextIsDropped() -> Never {
    let queue = SerialQueueContext(name: "short-lived"), view = queue.serial(named: "view")
    let promise = Promise<Int>()
    let submitted = view.submit { 1 }.flatMap { _ in promise.async.map(on: view) { $0 } }
    _ = try? submitted.map { $0 }.wait(timeout: .milliseconds(5))
    submitted.cancel()
    exit(0)
}

@inline(never)
private func servesMain() -> Never {
    let promise = Promise<Int>()
    promise.async.timeout(after: .milliseconds(20), on: .main).onFailure { _ in
        MainContext().schedule(after: .milliseconds(1)) { exit(0) }
    }
    dispatchMain()
}

/// A resource's value is on the heap, and nothing after the access refers to the resource.
@inline(never)
private func endsInsideWrite() -> Never {
    let names = LockedResource((0..<8).map(String.init), lockedBy: .section)
    return names.mutate { names in
        // Where the value would be if it had been freed.
        let others = (0..<64).map { LockedResource(["other \($0)"], lockedBy: .section) }
        names.append("8")
        exit(names.count == 9 && others.count == 64 ? 0 : 1)
    }
}

@inline(never)
private func endsInsideRead() -> Never {
    let names = LockedResource((0..<8).map(String.init), lockedBy: .coordinator)
    return names.read { names in
        let others = (0..<64).map { LockedResource(["other \($0)"], lockedBy: .coordinator) }
        exit(names.count == 8 && others.count == 64 ? 0 : 1)
    }
}
