import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Law 8: every decorator over every context keeps a power or drops it visibly, as the table says.
@Suite(.serialized)
struct WrappingLawTests {
    @Test(arguments: Powers.table, Subject.bases)
    func `Law 8: a decorator keeps serial-ness and barriers, or its type says it does not`(
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
        `Law 13: a view can back an actor if it has a line of its own, or if its base can and it refuses nothing`(
            _ powers: Powers, _ subject: Subject
        )
    {
        for base in [subject.make().context, subject.make().context.bounded(1000, overflow: .refuse)] {
            guard let view = powers.decorator.apply(base) else { continue }
            let powers = powers.over(base)
            let canBack =
                view is any SerialContext && !(view is any RefusingContext)
                && (powers.hasOwnLine || base is any ActorBackingContext)
            #expect((view is any ActorBackingContext) == canBack)
        }
    }

    @Test(arguments: Powers.table, Subject.bases)
    func `Law 8: a decorator keeps waiting and refusing, or its type says it does not`(
        _ powers: Powers, _ subject: Subject
    ) {
        for base in [subject.make().context, subject.make().context.bounded(1000, overflow: .refuse)] {
            guard let view = powers.decorator.apply(base) else { continue }
            let powers = powers.over(base)
            let isSynchronous = powers.synchronous.holds(base is any SynchronousContext)
            #expect((view is any SynchronousContext) == isSynchronous)
            let isExclusive = powers.synchronous.holds(base is any SynchronousBarrierContext)
            #expect((view is any SynchronousBarrierContext) == isExclusive)
            #expect((view is any RefusingContext) == powers.refusing.holds(base is any RefusingContext))
        }
    }

    @Test(arguments: Decorator.all, Subject.bases)
    func `Laws 7, 8: a decorator has the time of its base`(_ decorator: Decorator, _ subject: Subject) {
        let base = subject.make().context
        guard let view = decorator.apply(base) else { return }
        #expect(view.time === base.time)
    }

    @Test(arguments: Decorator.all)
    func `Laws 7, 8: no delay under a decorator waits for real time where the base's is virtual`(
        _ decorator: Decorator
    ) throws {
        let base = ManualContext()
        guard let view = decorator.apply(base) else { return }
        let count = Box(0)
        view.schedule(after: .seconds(3600)) { count.withValue { $0 += 1 } }
        let repetition = view.repeat(every: .seconds(600)) { count.withValue { $0 += 10 } }
        #expect(base.delayedCount == 2)
        base.advance(by: .seconds(3599))
        #expect(count.value == 50)
        base.advance(by: .seconds(1))
        #expect(count.value == 61)
        repetition.cancel()
        #expect(base.delayedCount == 0)
    }

    @Test(arguments: Powers.table, Subject.bases)
    func `Law 8: a decorator has the name of its base where it has none of its own`(
        _ powers: Powers, _ subject: Subject
    ) {
        let base = subject.make().context
        guard let view = powers.decorator.apply(base) else { return }
        #expect(view.name == powers.over(base).name(base))
    }

    @Test(arguments: Powers.table)
    func `Law 8: a decorator without a line of its own is where its base is`(_ powers: Powers) throws {
        let base = ManualContext()
        guard let view = powers.decorator.apply(base) else { return }
        #expect(view.isCurrent == false)
        let insideBase = Box<Bool?>(nil)
        base.execute { insideBase.value = view.isCurrent }
        base.runReady()
        // The base's own work is not work of a view that has a line of its own.
        #expect(insideBase.value == !powers.over(base).hasOwnLine)
        let insideView = Box<Bool?>(nil)
        view.execute { insideView.value = view.isCurrent }
        base.runReady()
        #expect(insideView.value == true)
    }

    @Test(arguments: Powers.table.filter { !$0.keepsItsWork })
    func `Laws 1, 8: a refusal of the base comes through a decorator to who asks`(
        _ powers: Powers
    ) async throws {
        let manual = ManualContext()
        let base = ClosureContext { manual.execute($0) }.bounded(1, overflow: .refuse)
        try base.tryExecute {}
        guard let view = powers.decorator.apply(base) else { return }
        let error = await #expect(throws: Refusal.self) { try await view.run {} }
        #expect(error?.reason == .full(capacity: 1))
        #expect(error?.origin?.contains("WrappingLawTests.swift") == true)
    }

    @Test(arguments: Powers.table.filter(\.keepsItsWork))
    func `Laws 1, 8: a view that keeps its work itself runs what it accepted, also over a base that is full`(
        _ powers: Powers
    ) async throws {
        let manual = ManualContext()
        let base = ClosureContext { manual.execute($0) }.bounded(1, overflow: .refuse)
        try base.tryExecute {}
        guard let view = powers.decorator.apply(base) else { return }
        let answer = view.submit { "ran" }
        manual.runReady()
        #expect(try await answer.get() == "ran")
    }
}
