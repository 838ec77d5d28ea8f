import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The way of a delay that is due, from the timer through a view to its base (law 7).
@Suite(.timeLimit(.minutes(30)))
struct DelayHopTests {
    private static let views: [@Sendable (Base) -> any ExecutionContext] = [
        { $0.serial() }, { $0.limited(to: 2) }, { $0.barrier() }, { $0.serial().named("renamed") },
    ]

    @Test(arguments: views.indices, [false, true])
    func `Law 7: a due delay on a view is given to the base at once, and does not run on the timer's thread`(
        _ view: Int, _ isInline: Bool
    ) async {
        let base = Base(isInline: isInline)
        let context = Self.views[view](base)
        let hasRunOnTimer = await withCheckedContinuation { continuation in
            context.schedule(after: .milliseconds(1)) { continuation.resume(returning: SystemTime.isFiring) }
        }
        #expect(!hasRunOnTimer)
        // The timer itself asks the base for a turn: no thread of the system's comes in between.
        #expect(base.askers.value.first == true)
    }

    @Test func `Law 7: delays on a serial view over a base that runs work on its caller keep their order`()
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

/// Notes whether the timer asks it for turns. It may run its work on the caller, and not say so in `enqueue`.
private struct Base: ExecutionContext {
    let isInline: Bool
    let askers = Box<[Bool]>([])

    init(isInline: Bool) { self.isInline = isInline }

    func execute(_ work: @escaping Work) {
        askers.withValue { $0.append(SystemTime.isFiring) }
        if isInline { work() } else { DispatchQueue.global().async(execute: work) }
    }
}
