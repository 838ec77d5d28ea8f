import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Cancelling an `Async` made from a function with a completion handler.
@Suite(.patient)
struct CallbackCancellingTests {
    @Test func `Law 26: cancelling stops the request once, and a first call after it is no fault`()
    {
        let request = Request()
        let value: Async<Int> = request.start()
        #expect(value.cancel())
        #expect(!value.cancel())
        #expect(request.cancels.value == 1)
        #expect(value.error is CancellationError)
        request.finish(1)
        #expect(value.error is CancellationError)
        #expect(request.faults.value == 0)
        // A second call is a fault.
        request.finish(1)
        #expect(request.faults.value == 1)
    }

    @Test func `Law 26: cancelling the last derived future stops the request`() {
        let request = Request()
        let text = request.start().map { "\($0)" }
        let twice = request.start().map { $0 * 2 }
        text.cancel()
        #expect(request.cancels.value == 1)
        twice.cancel()
        #expect(request.cancels.value == 2)
    }

    @Test func `A handler of onCancel is released at the completion, and does not run`() {
        let isFreed = Box(false)
        let kept = Box<(@Sendable (Async<Int>.Outcome) -> Void)?>(nil)
        let value = Async<Int>.fromCallback { done, onCancel in
            onCancel(capturing(isFreed))
            kept.value = done
        }
        #expect(!isFreed.value)
        kept.value?(.success(1))
        #expect(isFreed.value)
        #expect(!value.cancel())
        #expect(value.value == 1)
    }

    @Test func `Several handlers of onCancel may be registered, also later and after cancelling`() {
        let log = Box<[Int]>([])
        let register = Box<(@Sendable (@escaping Work) -> Void)?>(nil)
        let kept = Box<(@Sendable (Async<Int>.Outcome) -> Void)?>(nil)
        let value = Async<Int>.fromCallback { done, onCancel in
            (kept.value, register.value) = (done, onCancel)
            onCancel { log.withValue { $0.append(1) } }
        }
        register.value? { log.withValue { $0.append(2) } }
        value.cancel()
        #expect(log.value == [1, 2])
        register.value? { log.withValue { $0.append(3) } }
        #expect(log.value == [1, 2, 3])
        #expect(kept.value != nil)
    }

    @Test func `A future made from each kind of handler can be cancelled`() {
        let count = Box(0)
        let stop: Work = { count.withValue { $0 += 1 } }
        let kept = Box<[any Sendable]>([])
        let files = Handlers(kept: kept)
        Async<Int>.fromCallback { done, onCancel in
            onCancel(stop)
            files.result(done)
        }.cancel()
        Async<Int>.fromCallback { done, onCancel in
            onCancel(stop)
            files.pair(done)
        }.cancel()
        Async<Int>.fromCallback { done, onCancel in
            onCancel(stop)
            files.value { value in done(.success(value)) }
        }.cancel()
        Async<Void>.fromCallback { done, onCancel in
            onCancel(stop)
            files.error { error in done((), error) }
        }.cancel()
        Async<Void>.fromCallback { done, onCancel in
            onCancel(stop)
            files.end { done(.success(())) }
        }.cancel()
        #expect(count.value == 5)
    }

    @Test(.alsoSimulated) func `Law 26: a task that is cancelled in getOrCancel stops the request`()
        async
    {
        let request = Request()
        let value = request.start()
        let task = Task { try await value.getOrCancel() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(request.cancels.value == 1)
    }

    @Test func `A completed future has freed all its closures, however it was completed`() {
        for ending in 0..<4 {
            let freed = [Box(false), Box(false), Box(false)]
            do {
                let kept = Box<(@Sendable (Async<Int>.Outcome) -> Void)?>(nil)
                let (report, stop, notify) = (
                    capturing(freed[0]), capturing(freed[1]), capturing(freed[2])
                )
                let value = Async<Int>.fromCallback { done, onCancel in
                    onCancel(stop)
                    kept.value = done
                    if ending == 3 { throw Broken.here }
                } onFault: { _ in
                    report()
                }
                value.onComplete { _ in notify() }
                switch ending {
                case 0: kept.value?(.success(1))
                case 1: value.cancel()
                default: break
                }
                kept.value = nil
                #expect(value.isCompleted)
            }
            #expect(freed.map(\.value) == [true, true, true], "ending \(ending)")
        }
    }
}

/// A request that the test starts, finishes and cancels.
private struct Request: Sendable {
    let cancels = Box(0)
    let faults = Box(0)
    private let handlers = Box<[@Sendable (Async<Int>.Outcome) -> Void]>([])

    func start() -> Async<Int> {
        .fromCallback { done, onCancel in
            handlers.withValue { $0.append(done) }
            onCancel { cancels.withValue { $0 += 1 } }
        } onFault: { [faults] _ in
            faults.withValue { $0 += 1 }
        }
    }

    func finish(_ value: Int) { for handler in handlers.value { handler(.success(value)) } }
}

/// Functions that never call back.
private struct Handlers {
    let kept: Box<[any Sendable]>

    func result(_ done: @escaping @Sendable (Result<Int, any Error>) -> Void) { keep(done) }
    func pair(_ done: @escaping @Sendable (Int?, (any Error)?) -> Void) { keep(done) }
    func value(_ done: @escaping @Sendable (Int) -> Void) { keep(done) }
    func error(_ done: @escaping @Sendable ((any Error)?) -> Void) { keep(done) }
    func end(_ done: @escaping @Sendable () -> Void) { keep(done) }

    private func keep(_ handler: any Sendable) { kept.withValue { $0.append(handler) } }
}
