import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Delays that are due: the timer submits the job through a view to the view's base (law 7).
@Suite(.patient)
struct DueDelayTests {
    private static let views: [@Sendable (Base) -> any ExecutionContext] = [
        { $0.serial() }, { $0.limited(to: 2) }, { $0.barrier() }, { $0.serial().named("renamed") },
    ]

    @Test func `Law 10: a delay that is due at once keeps its captures no longer than its job`() {
        let time = FiringTime()
        let context = OnCaller(time: time)
        context.schedule(after: .zero, time.job())
        context.schedule(at: time.now, time.job())
        // The caller is still inside `schedule` when the source looks.
        #expect(time.wereFreed.value == [true, true])
    }

    @Test(arguments: views.indices, [false, true])
    func `Law 7: the timer submits a due delay of a view to the base at once, and does not run it`(
        _ view: Int, _ isInline: Bool
    ) async {
        let base = Base(isInline: isInline)
        let context = Self.views[view](base)
        let hasRunOnTimer = await withCheckedContinuation { continuation in
            context.schedule(after: .milliseconds(1)) {
                continuation.resume(returning: SystemTime.isFiring)
            }
        }
        #expect(!hasRunOnTimer)
        // The timer itself submits the drain to the base, without a further thread in between.
        #expect(base.calledByTimer.value.first == true)
    }

    @Test
    func
        `Law 7: delays on a serial view over a base that runs jobs on its caller keep their order`()
        async
    {
        let view = Base(isInline: true).serial()
        let log = Box<[Int]>([])
        await withCheckedContinuation { continuation in
            let deadline = view.time.now.advanced(by: .milliseconds(2))
            for index in 0..<100 {
                view.schedule(at: deadline) {
                    log.withValue { $0.append(index) }
                    if index == 99 { continuation.resume() }
                }
            }
        }
        #expect(log.value == Array(0..<100))
    }
}

/// Notes whether the timer's thread submits its jobs. It may run jobs on the caller, also for
/// `enqueue`.
private struct Base: ExecutionContext {
    let isInline: Bool
    let calledByTimer = Box<[Bool]>([])

    init(isInline: Bool) { self.isInline = isInline }

    func execute(_ work: @escaping Work) {
        calledByTimer.withValue { $0.append(SystemTime.isFiring) }
        if isInline { work() } else { DispatchQueue.global().async(execute: work) }
    }
}

/// Fires each delay while it is added, and then looks whether the captures of its job are freed.
private final class FiringTime: TimeSource {
    private final class Capture: Sendable {
        let freed: Box<Bool>
        init(_ freed: Box<Bool>) { self.freed = freed }
        deinit { freed.value = true }
    }

    let wereFreed = Box<[Bool]>([])
    private let isFreed = Box(false)

    func job() -> Work {
        isFreed.value = false
        let capture = Capture(isFreed)
        return { _ = capture.freed }
    }

    var now: ContextInstant { ContextInstant(nanoseconds: 0) }

    func add(_ delay: DelayedWork, tolerance: Duration) {
        delay.fire()
        let isFreed = isFreed.value
        wereFreed.withValue { $0.append(isFreed) }
    }

    func remove(_ delay: DelayedWork) {}
}

/// Runs its jobs on the caller, in the time of a test.
private struct OnCaller: ExecutionContext {
    let time: any TimeSource

    func execute(_ work: consuming @escaping Work) { work() }
    func enqueue(_ work: consuming @escaping Work) { work() }
}
