import ExecutionContexts
import Foundation

/// Helpers that the tests of queues, limiters, debounces and throttles share.
enum Lab {
    /// Runs a closure when it is deinitialized.
    final class DeinitAction: Sendable {
        private let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        deinit { body() }
    }

    /// A base that refuses or drops its jobs until it is repaired.
    final class BadBase: ExecutionContext {
        enum Fault: CaseIterable, Sendable { case refuses, drops, dropsLate }

        private let fault: Fault
        private let kept = Box<[Work]>([])
        private let isRepaired = Box(false)

        init(_ fault: Fault) { self.fault = fault }

        func repair() { isRepaired.value = true }

        /// Drops the kept jobs, outside of the lock.
        func dropKept() {
            let jobs = kept.withValue { jobs -> [Work] in
                defer { jobs = [] }
                return jobs
            }
            // Without this an optimized build releases them inside the lock, after their last use.
            withExtendedLifetime(jobs) {}
        }

        var name: String { "bad" }

        func execute(_ work: @escaping Work) { execute(work, refused: { _ in }) }

        func enqueue(_ work: @escaping Work) { execute(work, refused: { _ in }) }

        func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
            if isRepaired.value { return work() }
            switch fault {
            case .refuses: refused(Refusal(.full(capacity: 0), by: name))
            case .drops: return
            case .dropsLate: kept.withValue { $0.append(work) }
            }
        }
    }
}
