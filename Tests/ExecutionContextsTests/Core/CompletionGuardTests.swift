import Dispatch
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

@testable import ExecutionContexts

/// What a context may do with a guarded job, and what becomes of the job.
@Suite(.patient)
struct CompletionGuardTests {
    enum Fate: Equatable { case ran, refused, dropped }

    struct Recorded: GuardedJob {
        let log: Box<[Fate]>
        var inside: Work?

        mutating func run() {
            log.withValue { $0.append(.ran) }
            inside.take()?()
        }

        func refuse(_ refusal: Refusal) { log.withValue { $0.append(.refused) } }

        func drop() { log.withValue { $0.append(.dropped) } }
    }

    enum Step: CaseIterable {
        case run, refuse, drop

        func take(_ job: CompletionGuard<Recorded>) {
            switch self {
            case .run: job.run()
            case .refuse: job.refuse(Refusal(.shutDown, by: "a context"))
            case .drop: job.drop()
            }
        }

        var fate: Fate { self == .run ? .ran : self == .refuse ? .refused : .dropped }
    }

    @Test(arguments: Step.allCases, Step.allCases)
    func `Law 1: the first call decides, and a later one does nothing`(
        _ first: Step, _ second: Step
    ) {
        let log = Box<[Fate]>([])
        do {
            let job = CompletionGuard(Recorded(log: log))
            first.take(job)
            second.take(job)
        }
        #expect(log.value == [first.fate])
    }

    @Test func `Law 1: a guard that is released unused drops its job, once`() {
        let log = Box<[Fate]>([])
        _ = CompletionGuard(Recorded(log: log))
        #expect(log.value == [.dropped])
    }

    @Test(arguments: Step.allCases)
    func `Law 1: a call from inside the job does nothing`(_ step: Step) {
        let log = Box<[Fate]>([])
        let own = Box<CompletionGuard<Recorded>?>(nil)
        own.value = CompletionGuard(
            Recorded(log: log) {
                if let job = own.value { step.take(job) }
                // The job releases the last reference but that of its caller.
                own.value = nil
            })
        own.value?.run()
        #expect(log.value == [.ran])
        #expect(own.value == nil)
    }

    @Test func `Law 1: of threads that run, refuse and release one guard, one decides`() async {
        await watched {
            for _ in 0..<rounds(debug: 300, release: 5_000) {
                let log = Box<[Fate]>([])
                let job = CompletionGuard(Recorded(log: log))
                onThreads(3) { thread in Step.allCases[thread].take(job) }
                #expect(log.value.count == 1)
            }
        }
    }

    /// A base that keeps the last closure, and frees it under a lock when the next one has run.
    private final class KeepingContext: ExecutionContext, @unchecked Sendable {
        // Unchecked: `lock` guards `last`. The simulator does not know the lock.
        private let base: any ExecutionContext
        private let lock = NSLock()
        private var last: Work?

        init(_ base: any ExecutionContext) { self.base = base }

        func execute(_ work: @escaping Work) {
            base.execute {
                work()
                self.lock.withLock { self.last = work }
            }
        }
    }

    @Test func `Law 33: a guard that is freed under a lock of its base is no scheduling point`()
        throws
    {
        try simulate("a base that keeps the last closure", schedules: 200) { sim in
            let view = KeepingContext(sim.global).bounded(to: 3, overflow: .refuse)
            for name in ["a", "b", "c"] { sim.spawn(name) { try? view.tryExecute {} } }
        }
    }
}
