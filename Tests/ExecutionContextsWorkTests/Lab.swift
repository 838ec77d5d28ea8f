import ExecutionContexts
import Foundation

/// What the tests of queues, limiters, debounces and throttles have in common.
enum Lab {
    /// Calls something when it goes.
    final class Farewell: Sendable {
        private let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        deinit { body() }
    }

    /// A base that does not run all that it is given, until it is mended.
    final class BadBase: ExecutionContext {
        enum Fault: CaseIterable, Sendable { case refuses, drops, dropsLate }

        private let fault: Fault
        private let kept = Box<[Work]>([])
        private let mended = Box(false)

        init(_ fault: Fault) { self.fault = fault }

        func mend() { mended.value = true }

        /// Lets go of what was kept, outside of the lock.
        func letGo() {
            let works = kept.withValue { works -> [Work] in
                defer { works = [] }
                return works
            }
            // Or an optimised build lets go of them inside, as soon as nobody needs them.
            withExtendedLifetime(works) {}
        }

        var name: String { "bad" }

        func execute(_ work: @escaping Work) { execute(work, refused: { _ in }) }

        func enqueue(_ work: @escaping Work) { execute(work, refused: { _ in }) }

        func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
            if mended.value { return work() }
            switch fault {
            case .refuses: refused(Refusal(.full(capacity: 0), by: name))
            case .drops: return
            case .dropsLate: kept.withValue { $0.append(work) }
            }
        }
    }
}
