import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Law 16: a section is a context, and any context's work can hold a section.
@Suite(.timeLimit(.minutes(30)))
struct CriticalSectionContextTests {
    private static let patience = Duration.seconds(900)

    private static let sections: [Subject] =
        [Subject("section") { CriticalSection() }]
        + Decorator.all.compactMap { Subject("section") { CriticalSection() }.decorated(by: $0) }

    private static let exclusives = Subject.bases.map { base in
        Subject("\(base.name), exclusive") {
            let made = base.make()
            return Subject.Made(context: exclusive(made.context, CriticalSection()), drive: made.drive)
        }
    }

    @Test(arguments: sections + exclusives)
    func `Law 16: a section, its views and the work that holds one keep every law on contexts`(
        _ subject: Subject
    ) async {
        let made = subject.make()
        let breaches = await Laws.check(made.context, patience: Self.patience, drive: made.drive)
        #expect(breaches.isEmpty, "\(subject.name): \(breaches)")
    }

    @Test func `Law 16: a section is no serial context, it runs on the caller and may be waited for`() {
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

    @Test func `Laws 4, 16: a section is current inside, on that thread only`() async {
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

    @Test func `Law 4: a section that is not entered is not current, and the check says so`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CriticalSection(name: "the vault").preconditionIsCurrent()
        }
        try expectSentence(result, "'the vault'", "law 4")
    }

    @Test func `Laws 9, 16: enqueued and delayed work never runs on the caller, and runs inside`() async {
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

    @Test func `Law 16: run and submit come through with value and error, inside`() async throws {
        let section = CriticalSection()
        #expect(try await section.run { section.isCurrent } == true)
        #expect(try await section.submit { section.isCurrent }.get() == true)
        await #expect(throws: Wrong.self) { try await section.run { throw Wrong.deliberately } }
        await #expect(throws: Wrong.self) { try await section.submit { throw Wrong.deliberately }.get() }
        await offThePool { #expect(isFreeElsewhere(section)) }
    }

    @Test func `Law 16: work of many contexts that hold one section excludes each other`() async {
        let section = CriticalSection()
        let pieces = rounds(debug: 300, release: 3_000)
        // Unchecked by the compiler, guarded by the section.
        nonisolated(unsafe) var count = 0
        let done = DispatchGroup()
        let manual = ManualContext()
        let contexts: [any ExecutionContext] = [
            section, exclusive(.immediate, section), exclusive(.global, section),
            exclusive(GlobalContext().serial(), section),
            exclusive(BarrierQueueContext(label: "barrier"), section),
            exclusive(GlobalContext().limited(to: 2), section), exclusive(manual, section),
        ]
        for context in contexts {
            for _ in 0..<pieces {
                done.enter()
                context.execute {
                    unsafe count += 1
                    done.leave()
                }
            }
        }
        await watched {
            for _ in 0..<pieces { section.execute { unsafe count += 1 } }
            manual.runReady()
            done.wait()
        }
        #expect(unsafe count == pieces * (contexts.count + 1))
    }

    @Test(arguments: Subject.bases)
    func `Laws 8, 16: work that holds a section keeps order, barriers, waiting and refusing by type`(
        _ subject: Subject
    ) {
        let section = CriticalSection()
        for base in [subject.make().context, subject.make().context.bounded(1000, overflow: .refuse)] {
            let view = exclusive(base, section)
            #expect((view is any SerialContext) == (base is any SerialContext))
            #expect((view is any BarrierContext) == (base is any BarrierContext))
            #expect((view is any SynchronousContext) == (base is any SynchronousContext))
            #expect((view is any RefusingContext) == (base is any RefusingContext))
            #expect(view.time === base.time && view.name == base.name)
            // Who helps by running its work would run it outside.
            #expect(!view.runsAnywhere)
        }
    }

    @Test func `Law 16: barriers, sync and refusable work hold the section too`() async throws {
        let section = CriticalSection()
        let manual = ManualContext()
        let inside = Box<[Bool?]>([])
        let note: Work = { inside.withValue { $0.append(section.isCurrent) } }
        manual.exclusive(section).executeBarrier(note)
        let refusing = exclusive(manual.bounded(9, overflow: .refuse), section)
        try (refusing as! any RefusingContext).tryExecute(note)
        manual.exclusive(section).execute(note, refused: { _ in })
        manual.exclusive(section).enqueue(note)
        manual.runReady()
        #expect(inside.value == [true, true, true, true])
        await offThePool {
            let queue = SerialQueueContext(label: "queue").exclusive(section)
            #expect((queue as! any SynchronousContext).sync { section.isCurrent } == true)
        }
    }

    @Test func `Laws 14, 16: a limit may be written in every way, and means the same`() {
        let section = CriticalSection()
        #expect(section.executeWithTimeout(0) {})
        #expect(section.executeWithTimeout(1.5) {})
        #expect(section.executeWithTimeout(.infinity) {})
        #expect(section.executeWithTimeout(.seconds(1)) {})
        #expect(section.executeWithTimeout(.zero) {})
        #expect(section.execute(timeout: .zero) { 1 } == 1)
    }
}

/// The context with its work inside `section`, by the overload that a caller who knows its type would get.
private func exclusive(_ base: any ExecutionContext, _ section: CriticalSection) -> any ExecutionContext {
    if let base = base as? any SerialContext { return base.exclusive(section) }
    if let base = base as? any BarrierContext { return base.exclusive(section) }
    return base.exclusive(section)
}
