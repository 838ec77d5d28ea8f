import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Law 16: a section is a context, and the jobs of any context can run inside a section.
@Suite(.patient)
struct CriticalSectionContextTests {

    private static let sections: [Subject] =
        [Subject("section") { CriticalSection() }]
        + Decorator.all.compactMap { Subject("section") { CriticalSection() }.decorated(by: $0) }

    private static let exclusives = Subject.bases.map { base in
        Subject("\(base.name), exclusive") {
            let made = base.make()
            return Subject.Made(
                context: exclusive(made.context, CriticalSection()), drive: made.drive)
        }
    }

    @Test(arguments: sections + exclusives)
    func `Law 16: a section, its views and all exclusive views keep every law on contexts`(
        _ subject: Subject
    ) async {
        let made = subject.make()
        let breaches = await Laws.check(made.context, patience: Patience.event, drive: made.drive)
        #expect(breaches.isEmpty, "\(subject.name): \(breaches)")
    }

    @Test
    func `Law 16: a section is a synchronous context that runs on the caller, and no serial one`() {
        let section = CriticalSection()
        #expect(!(section as Any is any SerialContext))
        #expect(!(section as Any is any BarrierContext))
        #expect(section as Any is any SynchronousContext)
        let context: any ExecutionContext = section
        let caller = ObjectIdentifier(Thread.current)
        let ranOn = Box<ObjectIdentifier?>(nil)
        context.execute {
            ranOn.value = ObjectIdentifier(Thread.current)
            #expect(section.isCurrent == true)
        }
        #expect(ranOn.value == caller)
        #expect(section.sync { 42 } == 42)
        #expect(context.name == "critical section")
    }

    @Test func `Laws 4, 16: a section is current inside of it, and only on the thread inside`()
        async
    {
        await offThePool {
            let section = CriticalSection()
            #expect(section.isCurrent == false)
            section.execute {
                #expect(section.isCurrent == true)
                section.preconditionIsCurrent()
                section.execute { #expect(section.isCurrent == true) }
                #expect(section.isCurrent == true)
                onThreads(2) { #expect(section.isCurrent == false) }
            }
            #expect(section.isCurrent == false)
        }
    }

    @Test func `Law 4: the check traps with a message outside of the section`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            CriticalSection(name: "the vault").preconditionIsCurrent()
        }
        try expectTrap(result, "'the vault'", "law 4")
    }

    @Test func `Laws 9, 16: enqueued and delayed jobs run inside the section, never on the caller`()
        async
    {
        let section = CriticalSection()
        let inside = Box<[Bool?]>([])
        await watched {
            let done = DispatchGroup()
            let note: Work = {
                inside.withValue { $0.append(section.isCurrent) }
                done.leave()
            }
            for _ in 0..<3 { done.enter() }
            section.execute {
                section.enqueue(note)
                section.schedule(after: .zero, note)
                section.schedule(after: .milliseconds(1), note)
                #expect(inside.value.isEmpty)
            }
            done.wait()
        }
        #expect(inside.value == [true, true, true])
    }

    @Test func `Law 16: run and submit run the body inside and return its value or error`()
        async throws
    {
        let section = CriticalSection()
        #expect(try await section.run { section.isCurrent } == true)
        #expect(try await section.submit { section.isCurrent }.get() == true)
        await #expect(throws: Wrong.self) { try await section.run { throw Wrong.deliberately } }
        await #expect(throws: Wrong.self) {
            try await section.submit { throw Wrong.deliberately }.get()
        }
        await offThePool { #expect(isFreeElsewhere(section)) }
    }

    @Test func `Law 16: jobs of many contexts that enter one section exclude each other`() async {
        let section = CriticalSection()
        let jobs = rounds(debug: 300, release: 3_000)
        // Unchecked by the compiler, guarded by the section.
        nonisolated(unsafe) var count = 0
        let done = DispatchGroup()
        let manual = ManualContext()
        let contexts: [any ExecutionContext] = [
            section, exclusive(.immediate, section), exclusive(.global, section),
            exclusive(GlobalContext().serial(), section),
            exclusive(BarrierQueueContext(name: "barrier"), section),
            exclusive(GlobalContext().limited(to: 2), section), exclusive(manual, section),
        ]
        for context in contexts {
            for _ in 0..<jobs {
                done.enter()
                context.execute {
                    unsafe count += 1
                    done.leave()
                }
            }
        }
        await watched {
            for _ in 0..<jobs { section.execute { unsafe count += 1 } }
            manual.runReady()
            done.wait()
        }
        // Read inside: the thread sanitizer does not see what Dispatch orders.
        let counted = section.sync { unsafe count }
        #expect(counted == jobs * (contexts.count + 1))
    }

    @Test(arguments: Subject.bases)
    func `Laws 8, 16: an exclusive view is serial, barrier, synchronous or refusing as its base is`(
        _ subject: Subject
    ) {
        let section = CriticalSection()
        for base in [
            subject.make().context, subject.make().context.bounded(to: 1000, overflow: .refuse),
        ] {
            let view = exclusive(base, section)
            #expect((view is any SerialContext) == (base is any SerialContext))
            #expect((view is any BarrierContext) == (base is any BarrierContext))
            #expect((view is any SynchronousContext) == (base is any SynchronousContext))
            #expect((view is any RefusingContext) == (base is any RefusingContext))
            #expect(view.time === base.time && view.name == base.name)
            // A caller that helps would run the job outside of the section.
            #expect(!view.runsAnywhere)
        }
    }

    @Test func `Law 16: barriers, sync and refusable jobs run inside the section, too`()
        async throws
    {
        let section = CriticalSection()
        let manual = ManualContext()
        let inside = Box<[Bool?]>([])
        let note: Work = { inside.withValue { $0.append(section.isCurrent) } }
        manual.exclusive(section).executeBarrier(note)
        let refusing = exclusive(manual.bounded(to: 9, overflow: .refuse), section)
        try (refusing as! any RefusingContext).tryExecute(note)
        manual.exclusive(section).execute(note, refused: { _ in })
        manual.exclusive(section).enqueue(note)
        manual.runReady()
        #expect(inside.value == [true, true, true, true])
        await offThePool {
            let queue = SerialQueueContext(name: "queue").exclusive(section)
            #expect(queue.sync { section.isCurrent } == true)
        }
    }

    @Test func `Laws 14, 16: every spelling of a time limit enters a free section`() {
        let section = CriticalSection()
        #expect(section.executeWithTimeout(0) {})
        #expect(section.executeWithTimeout(1.5) {})
        #expect(section.executeWithTimeout(.infinity) {})
        #expect(section.executeWithTimeout(1) {})
        #expect(section.executeWithTimeout(0) {})
        #expect(section.execute(timeout: .zero) { 1 } == 1)
    }
}

/// The view whose jobs run inside `section`, by the overload for the dynamic type of `base`.
private func exclusive(_ base: any ExecutionContext, _ section: CriticalSection)
    -> any ExecutionContext
{
    if let base = base as? any SerialContext { return base.with(.exclusive(section)) }
    if let base = base as? any BarrierContext { return base.with(.exclusive(section)) }
    return base.with(.exclusive(section))
}
