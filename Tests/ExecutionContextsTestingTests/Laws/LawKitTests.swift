import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The law kit finds the law that each broken context breaks, and no other.
@Suite(.serialized, .patient)
struct LawKitTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let law: Int
        let what: String
        /// Whether the breach is that an event never comes.
        let hangs: Bool
        let make: @Sendable () -> any ExecutionContext
        var testDescription: String { "law \(law): \(what)" }

        init(
            _ law: Int, _ what: String, hangs: Bool = false,
            _ make: @escaping @Sendable () -> any ExecutionContext
        ) {
            self.law = law
            self.what = what
            self.hangs = hangs
            self.make = make
        }
    }

    @Test(arguments: Fault.all)
    func `A context that breaks one law is caught breaking that law`(_ fault: Fault) async {
        await expectBreaches(of: [fault.law], fault.hangs) {
            await Laws.check(fault.make(), patience: $0)
        }
    }

    @Test(arguments: Fault.all)
    func `A breach names the context, what happened and the law`(_ fault: Fault) async {
        let laws: Set = [fault.law]
        let breaches = await expectBreaches(of: laws, fault.hangs) {
            await Laws.check(fault.make(), laws: laws, patience: $0)
        }
        for breach in breaches {
            #expect("\(breach)".hasPrefix("'broken' "))
            #expect("\(breach)".contains("(law \(fault.law)). "))
            #expect("\(breach)".hasSuffix("."))
        }
    }

    @Test(arguments: Closable.Fault.allCases)
    func `A context with a shutdown is checked after it`(fault: Closable.Fault) async {
        await expectBreaches(of: Set([fault.law].compactMap(\.self)), fault != .none) { patience in
            let context = Closable(fault)
            return await Laws.check(context, patience: patience, shutDown: { context.shutDown() })
        } where: {
            $0.count <= 1 && $0.allSatisfy { "\($0)".contains("shutdown") }
        }
    }

    /// Expects that these laws and no others are broken, and returns the breaches.
    @discardableResult
    private func expectBreaches(
        of laws: Set<Int>, _ hangs: Bool, _ check: (_ patience: Duration) async -> [LawBreach],
        where areExpected: ([LawBreach]) -> Bool = { _ in true }
    ) async -> [LawBreach] {
        var breaches: [LawBreach] = []
        // A patience that ends too early shows other breaches as well.
        for patience in hangs ? Patience.hangs : [Patience.event] {
            breaches = await check(patience)
            if Set(breaches.map(\.law)) == laws, areExpected(breaches) { return breaches }
        }
        Issue.record("\(breaches)")
        return breaches
    }

    @Test func `Without a shutdown closure nothing is checked after a shutdown`() async {
        let breaches = await Laws.check(Closable(.dropsJobs), patience: Patience.event)
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test func `Only the requested laws are checked`() async {
        let breaches = await Laws.check(
            Broken(answer: { true }, submit: Fault.global), laws: [1, 7], patience: Patience.event)
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test func `The kit drives a context that runs nothing by itself`() async {
        let context = ManualContext()
        let breaches = await Laws.check(
            context, patience: Patience.event, drive: { context.advance(by: .milliseconds(1)) })
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test func `A context that is not driven is reported for not running its jobs`() async {
        let breaches = await expectBreaches(of: [1], true) {
            await Laws.check(ManualContext(), patience: $0)
        }
        #expect(breaches.count == 1)
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
        Self(1, "keeps jobs for ever without running them", hangs: true) {
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

        Self(9, "runs jobs with a lock held", hangs: true) {
            let (queue, lock) = (DispatchQueue(label: "serial"), NSLock())
            return Broken { work in
                lock.withLock {}
                queue.async { lock.withLock { work() } }
            }
        },

        Self(10, "keeps every closure", hangs: true) {
            let shelf = Shelf()
            return Broken { work in
                shelf.put(work)
                global(work)
            }
        },
        Self(10, "keeps each closure until the next one comes", hangs: true) {
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
