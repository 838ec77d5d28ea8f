import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// What the views of an addition do in a chain.
@Suite(.patient)
struct ContextViewTests {
    @TaskLocal static var user = "nobody"

    @Test func `Of two views that bind a value, the outer one wins, however a job is submitted`()
        throws
    {
        let seen = Box<[String]>([])
        let note: Work = { seen.withValue { $0.append(Self.user) } }
        let manual = ManualContext()
        let views: [any ExecutionContext] = [
            manual.with(As(user: "inner")).with(As(user: "outer")),
            manual.propagating(Self.$user).with(As(user: "outer")),
            manual.with(As(user: "inner")).propagating(Self.$user),
        ]
        for (view, expected) in zip(views, ["outer", "outer", "caller"]) {
            Self.$user.withValue("caller") {
                view.execute(note)
                view.enqueue(note)
                view.bounded(to: 9, overflow: .refuse).execute(note)
                view.serial().execute(note)
                view.limited(to: 2).execute(note)
                view.schedule(after: .seconds(1), note)
            }
            try manual.runUntilIdle()
            let values = seen.withValue { seen in
                defer { seen = [] }
                return seen
            }
            #expect(values == Array(repeating: expected, count: 6))
        }
    }

    @Test func `A sync is recorded below each of several views that observe`() {
        let (below, above) = (Recorder(), Recorder())
        let queue = SerialQueueContext(name: "queue").observed(by: below).named("named")
            .observed(by: above)
        queue.sync {}
        let view = GlobalContext().observed(by: below).serial().observed(by: above)
        view.sync {}
        let line = #line - 1
        #expect(below.jobs.count == 2 && above.jobs.count == 2)
        #expect(below.jobs.allSatisfy { $0.state == .finished })
        #expect(below.jobs.last?.name == "ContextViewTests.swift:\(line)", "\(below.jobs)")
        let failed = Recorder()
        struct Oops: Error {}
        let serial = GlobalContext().observed(by: failed).serial()
        #expect(throws: Oops.self) { try serial.sync { throw Oops() } }
        #expect(failed.jobs.count == 1)
    }

    @Test func `A label below other views is seen above them`() throws {
        let recorder = Recorder()
        let manual = ManualContext()
        let labeled = manual.labeled("decode")
        labeled.named("named").observed(by: recorder).execute {}
        labeled.exclusive(CriticalSection()).observed(by: recorder).execute {}
        labeled.bounded(to: 9, overflow: .refuse).observed(by: recorder).execute {}
        labeled.valid(while: InvalidationToken()).observed(by: recorder).execute {}
        try manual.runUntilIdle()
        #expect(recorder.jobs.map(\.name) == Array(repeating: "decode", count: 4))
    }

    @Test func `The most specific view is made, also in one expression`() {
        let recorder = Recorder()
        let queue = SerialQueueContext(name: "queue").observed(by: recorder)
        queue.barrier().execute {}
        queue.sync {}
        #expect(recorder.jobs.first?.name.hasPrefix("drain") == false, "\(recorder.jobs)")
    }

    @Test func `An addition's sync meets the base itself, whatever is observed elsewhere`() async {
        let probe = Probe()
        let writing = ReadWriteCoordinator(writesOn: .immediate).writing.with(probe)
        await offThePool {
            writing.sync {}
            let other = ImmediateContext().observed(by: Recorder())
            writing.sync {}
            writing.syncBarrier {}
            other.execute {}
        }
        #expect(probe.seen.value == Array(repeating: "serial, elsewhere", count: 3))
    }

    private struct As: HoldableAddition {
        let user: String

        func decorate(_ work: @escaping Work) -> Work {
            { ContextViewTests.$user.withValue(user) { work() } }
        }

        var submissionTransform: (@Sendable (@escaping Work) -> Work)? { { decorate($0) } }
    }

    private struct Probe: HoldableAddition {
        let seen = Box<[String]>([])

        func sync<Value, Failure: Error>(
            _ body: () throws(Failure) -> Value, on base: some SynchronousContext
        ) throws(Failure) -> Value {
            let (ranHere, caller) = (Box(false), ObjectIdentifier(Thread.current))
            base.enqueue { ranHere.value = ObjectIdentifier(Thread.current) == caller }
            let kind = base is any SerialContext ? "serial" : "not serial"
            seen.withValue { $0.append("\(kind), \(ranHere.value ? "here" : "elsewhere")") }
            return try base.sync(body)
        }
    }
}
