import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// The law kit finds the law that each broken context breaks, and no other.
@Suite(.serialized)
struct LawKitTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let law: Int
        let what: String
        /// Short if the breach is that an event never comes.
        let patience: Duration
        let make: @Sendable () -> any ExecutionContext
        var testDescription: String { "law \(law): \(what)" }

        init(
            _ law: Int, _ what: String, patience: Duration = .seconds(5),
            _ make: @escaping @Sendable () -> any ExecutionContext
        ) {
            self.law = law
            self.what = what
            self.patience = patience
            self.make = make
        }
    }

    @Test(arguments: Fault.all)
    func `A context that breaks one law is caught breaking that law`(_ fault: Fault) async {
        let breaches = await Laws.check(fault.make(), patience: fault.patience)
        #expect(Set(breaches.map(\.law)) == [fault.law], "\(fault.what): \(breaches)")
    }

    @Test(arguments: Fault.all)
    func `A breach names the context, what happened and the law`(_ fault: Fault) async {
        let laws: Set = [fault.law]
        let breaches = await Laws.check(fault.make(), laws: laws, patience: fault.patience)
        #expect(!breaches.isEmpty)
        for breach in breaches {
            #expect("\(breach)".hasPrefix("'broken' "))
            #expect("\(breach)".contains("(law \(fault.law)). "))
            #expect("\(breach)".hasSuffix("."))
        }
    }

    @Test(arguments: Closable.Fault.allCases)
    func `A context with a shutdown is checked after it`(fault: Closable.Fault) async {
        let context = Closable(fault)
        let patience: Duration = fault == .none ? .seconds(5) : .seconds(1)
        let breaches = await Laws.check(
            context, patience: patience, shutDown: { context.shutDown() })
        #expect(breaches.map(\.law) == fault.law.map { [$0] } ?? [], "\(fault): \(breaches)")
        #expect(breaches.allSatisfy { "\($0)".contains("shutdown") }, "\(breaches)")
    }

    @Test func `Without a shutdown closure nothing is checked after a shutdown`() async {
        let breaches = await Laws.check(Closable(.dropsJobs))
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test func `Only the requested laws are checked`() async {
        let breaches = await Laws.check(
            Broken(answer: { true }, submit: Fault.global), laws: [1, 7])
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test func `The kit drives a context that runs nothing by itself`() async {
        let context = ManualContext()
        let breaches = await Laws.check(context, drive: { context.advance(by: .milliseconds(1)) })
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test func `A context that is not driven is reported for not running its jobs`() async {
        let breaches = await Laws.check(ManualContext(), patience: .milliseconds(50))
        #expect(breaches.map(\.law) == [1])
    }
}

extension LawKitTests.Fault {
    static let global: @Sendable (@escaping Work) -> Void = {
        DispatchQueue.global().async(execute: $0)
    }

    static let all: [Self] = [
        Self(1, "drops everything") { Broken { _ in } },
        Self(1, "drops every seventh job") {
            let counter = Counter()
            return Broken { if counter.next() % 7 != 6 { global($0) } }
        },
        Self(1, "runs everything twice") {
            Broken { work in
                global {
                    work(); work()
                }
            }
        },
        Self(1, "runs every seventh job twice, the second time later") {
            let counter = Counter()
            return Broken { work in
                global(work)
                if counter.next() % 7 == 6 {
                    DispatchQueue.global(qos: .utility).async(execute: work)
                }
            }
        },
        Self(1, "keeps jobs for ever without running them", patience: .seconds(1)) {
            let shelf = Shelf()
            return Broken { shelf.put($0) }
        },
        Self(1, "runs a job and refuses it") { RunsAndRefuses() },
        Self(1, "refuses a job after running it") { RefusesAfterwards() },
        Self(1, "runs the body of sync twice") { SyncsTwice() },

        Self(2, "runs several jobs at a time and claims to be serial") {
            BrokenSerial(submit: global)
        },
        Self(2, "runs the newest job first and claims to be serial") {
            let (shelf, queue) = (Shelf(), DispatchQueue(label: "newest first"))
            return BrokenSerial { work in
                shelf.put(work)
                queue.async { shelf.takeLast()?() }
            }
        },
        Self(2, "runs jobs on the caller and claims to be serial") { BrokenSerial { $0() } },
        Self(2, "changes its queue at times and claims to be serial") {
            let counter = Counter()
            let queues = [DispatchQueue(label: "first"), DispatchQueue(label: "second")]
            return BrokenSerial { queues[counter.next() % 3 / 2].async(execute: $0) }
        },

        Self(3, "ignores barriers") {
            BrokenBarrier(submit: global, submitBarrier: global)
        },
        Self(3, "lets later jobs overtake a barrier") {
            let queue = DispatchQueue(label: "barrier", attributes: .concurrent)
            return BrokenBarrier(
                submit: { queue.async(execute: $0) },
                submitBarrier: { work in queue.async(flags: .barrier) { queue.async(execute: work) }
                })
        },
        Self(3, "starts barriers early") {
            let queue = DispatchQueue(label: "barrier", attributes: .concurrent)
            return BrokenBarrier(
                submit: { queue.async(execute: $0) }, submitBarrier: { global($0) })
        },

        Self(4, "claims everywhere to be current") { Broken(answer: { true }, submit: global) },
        Self(4, "claims everywhere not to be current") {
            Broken(answer: { false }, submit: global)
        },
        Self(4, "backs actors and does not know whether it is current") {
            let queue = DispatchQueue(label: "serial")
            return BrokenSerial(answer: { nil }) { queue.async(execute: $0) }
        },

        Self(7, "has a time source that fires early") {
            // Serial, so that the delay that is fired first also runs first.
            let queue = DispatchQueue(label: "serial")
            return BrokenSerial(clock: WrongTime(.early)) { queue.async(execute: $0) }
        },
        Self(7, "has a time source that keeps cancelled delays") {
            Broken(clock: WrongTime(.forgetsNothing), submit: global)
        },
        Self(7, "has a time source that fires the newest delay first") {
            let queue = DispatchQueue(label: "serial")
            return BrokenSerial(clock: WrongTime(.newestFirst)) { queue.async(execute: $0) }
        },

        Self(9, "runs jobs with a lock held", patience: .seconds(1)) {
            let (queue, lock) = (DispatchQueue(label: "serial"), NSLock())
            return Broken { work in
                lock.withLock {}
                queue.async { lock.withLock { work() } }
            }
        },

        Self(10, "keeps every closure", patience: .seconds(1)) {
            let shelf = Shelf()
            return Broken { work in
                shelf.put(work)
                global(work)
            }
        },
        Self(10, "keeps each closure until the next one comes", patience: .seconds(1)) {
            let (shelf, queue) = (Shelf(), DispatchQueue(label: "serial"))
            return BrokenSerial { work in
                queue.async {
                    _ = shelf.exchange(work)
                    work()
                }
            }
        },
    ]
}
