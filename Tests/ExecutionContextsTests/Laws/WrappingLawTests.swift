import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Law 8: every decorator over every context keeps a power or gives it up in its type, as the
/// table says.
@Suite(.serialized)
struct WrappingLawTests {
    @Test func `Law 8: each decorator has a row in the table`() {
        #expect(Set(Powers.table.map(\.decorator.name)) == Set(Decorator.all.map(\.name)))
    }

    @Test(arguments: Powers.table, Subject.bases)
    func `Law 8: a decorator keeps order and barriers, or its type says that it does not`(
        _ powers: Powers, _ subject: Subject
    ) {
        let base = subject.make().context
        guard let view = powers.decorator.apply(base) else { return }
        let powers = powers.over(base)
        #expect((view is any SerialContext) == powers.serial.holds(base is any SerialContext))
        #expect((view is any BarrierContext) == powers.barrier.holds(base is any BarrierContext))
    }

    @Test(arguments: Powers.table, Subject.bases)
    func
        `Law 13: a serial view that never refuses backs actors if it has a queue of its own or its base can`(
            _ powers: Powers, _ subject: Subject
        )
    {
        for base in [
            subject.make().context, subject.make().context.bounded(to: 1000, overflow: .refuse),
        ] {
            guard let view = powers.decorator.apply(base) else { continue }
            let powers = powers.over(base)
            let canBack =
                view is any SerialContext && !(view is any RefusingContext)
                && (powers.hasOwnQueue || base is any ActorBackingContext)
            #expect((view is any ActorBackingContext) == canBack)
        }
    }

    @Test(arguments: Powers.table, Subject.bases)
    func `Law 8: a decorator keeps sync and refusals, or its type says that it does not`(
        _ powers: Powers, _ subject: Subject
    ) {
        for base in [
            subject.make().context, subject.make().context.bounded(to: 1000, overflow: .refuse),
        ] {
            guard let view = powers.decorator.apply(base) else { continue }
            let powers = powers.over(base)
            let isSynchronous = powers.synchronous.holds(base is any SynchronousContext)
            #expect((view is any SynchronousContext) == isSynchronous)
            let isExclusive = powers.synchronous.holds(base is any SynchronousBarrierContext)
            #expect((view is any SynchronousBarrierContext) == isExclusive)
            #expect(
                (view is any RefusingContext) == powers.refusing.holds(base is any RefusingContext))
        }
    }

    @Test(arguments: Decorator.all, Subject.bases)
    func `Laws 7, 8: a decorator has the time of its base`(
        _ decorator: Decorator, _ subject: Subject
    ) {
        let base = subject.make().context
        guard let view = decorator.apply(base) else { return }
        #expect(view.time === base.time)
    }

    @Test(arguments: Decorator.all)
    func `Laws 7, 8: no delay of a decorator waits for real time if its base has virtual time`(
        _ decorator: Decorator
    ) throws {
        let base = ManualContext()
        guard let view = decorator.apply(base) else { return }
        let count = Box(0)
        view.schedule(after: .seconds(3600)) { count.withValue { $0 += 1 } }
        let repetition = view.schedule(every: .seconds(600)) { count.withValue { $0 += 10 } }
        #expect(base.delayedCount == 2)
        base.advance(by: .seconds(3599))
        #expect(count.value == 50)
        base.advance(by: .seconds(1))
        #expect(count.value == 61)
        repetition.cancel()
        #expect(base.delayedCount == 0)
    }

    @Test(arguments: Powers.table, Subject.bases)
    func `Law 8: a decorator without a name has the name of its base`(
        _ powers: Powers, _ subject: Subject
    ) {
        let base = subject.make().context
        guard let view = powers.decorator.apply(base) else { return }
        #expect(view.name == powers.over(base).name(base))
    }

    @Test(arguments: Powers.table)
    func `Law 8: a decorator without its own queue is current where its base is`(_ powers: Powers)
        throws
    {
        let base = ManualContext()
        guard let view = powers.decorator.apply(base) else { return }
        #expect(view.isCurrent == false)
        let insideBase = Box<Bool?>(nil)
        base.execute { insideBase.value = view.isCurrent }
        base.runReady()
        // A job of the base is not a job of a view that has a queue of its own.
        #expect(insideBase.value == !powers.over(base).hasOwnQueue)
        let insideView = Box<Bool?>(nil)
        view.execute { insideView.value = view.isCurrent }
        base.runReady()
        #expect(insideView.value == true)
    }

    @Test(arguments: Powers.table.filter { !$0.keepsItsJobs })
    func `Laws 1, 8: a decorator passes a refusal of its base to the caller`(
        _ powers: Powers
    ) async throws {
        let manual = ManualContext()
        let base = ClosureContext { manual.execute($0) }.bounded(to: 1, overflow: .refuse)
        try base.tryExecute {}
        guard let view = powers.decorator.apply(base) else { return }
        let error = await #expect(throws: Refusal.self) { try await view.run {} }
        #expect(error?.reason == .full(capacity: 1))
        #expect(error?.sourceLocation?.contains("WrappingLawTests.swift") == true)
    }

    @Test(arguments: Powers.table.filter(\.keepsItsJobs))
    func `Laws 1, 8: a view that keeps its jobs itself runs accepted jobs over a full base`(
        _ powers: Powers
    ) async throws {
        let manual = ManualContext()
        let base = ClosureContext { manual.execute($0) }.bounded(to: 1, overflow: .refuse)
        try base.tryExecute {}
        guard let view = powers.decorator.apply(base) else { return }
        let outcome = view.submit { "ran" }
        manual.runReady()
        #expect(try await outcome.get() == "ran")
    }
}
