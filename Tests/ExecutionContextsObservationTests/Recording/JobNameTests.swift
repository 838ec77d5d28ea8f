import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Testing

/// A job is shown by its label, or by where it was written, however it was submitted.
struct JobNameTests {
    private let manual = ManualContext(name: "manual")
    private let names = NameObserver()

    private func at(_ line: UInt) -> [String] { ["JobNameTests.swift:\(line)"] }

    // MARK: Ways of submission

    @Test func `A closure is shown by its own line`() throws {
        let context = manual.observed(by: names)
        let captured = Box(0)
        context.execute {}
        #expect(names.take() == at(#line - 1))
        context.execute {
            captured.withValue { $0 += 1 }
        }
        #expect(names.take() == at(#line - 3))
        context.enqueue { captured.withValue { $0 += 1 } }
        #expect(names.take() == at(#line - 1))
        context { captured.withValue { $0 += 1 } }
        #expect(names.take() == at(#line - 1))
        context.execute({ captured.withValue { $0 += 1 } }, refused: { _ in })
        #expect(names.take() == at(#line - 1))
        context.executeBarrier { captured.withValue { $0 += 1 } }
        #expect(names.take() == at(#line - 1))
        try manual.runUntilIdle()
        #expect(captured.value == 5)
    }

    @Test func `A function that is given as a job is shown by its name or by its line`() throws {
        let context = manual.observed(by: names)
        let count = Box(0)
        @Sendable func job() { count.withValue { $0 += 1 } }
        context.execute(job)
        #expect(names.take() == at(#line - 2))
        try manual.runUntilIdle()
    }

    @Test func `A job of submit and of run is shown by the call`() throws {
        let context = manual.observed(by: names)
        let result = context.submit { 1 }
        #expect(names.take() == at(#line - 1))
        try manual.runUntilIdle()
        #expect(try result.outcome?.get() == 1)
        let line: UInt = #line + 1
        let awaited = try manual.drive { try await context.run { 2 } }
        #expect(awaited == 2)
        #expect(names.take().contains(at(line)[0]))
    }

    @Test func `The body of sync is shown by its own line, also behind other views`() throws {
        let section = CriticalSection(name: "section").observed(by: names)
        let value = section.sync { 1 }
        #expect(names.take() == at(#line - 1))
        #expect(value == 1)
        let serial = GlobalContext().serial(named: "serial").observed(by: names)
        func run(_ view: some ExecutionContext, _ use: (any SynchronousContext) -> Void) {
            guard let view = view as? any SynchronousContext else {
                return #expect(Bool(false), "\(type(of: view)) has no sync")
            }
            use(view)
        }
        for view: any ExecutionContext in [
            serial, serial.named("other"), serial.intercepted { $0() },
            serial.propagating(Self.$local).named("other").inlineIfCurrent(),
            serial.exclusive(CriticalSection(name: "other")),
        ] {
            run(view) { view in
                view.sync {}
                #expect(names.take() == at(#line - 1), "\(type(of: view))")
            }
        }
        for view: any ExecutionContext in [
            serial.labeled("labelled"),
            serial.labeled("labelled").intercepted { $0() }.named("other"),
            serial.intercepted { $0() }.labeled("labelled"),
        ] {
            run(view) { view in
                view.sync {}
                #expect(names.take() == ["labelled"], "\(type(of: view))")
            }
        }
        // What was said of one body is not said of the next one.
        run(serial) { view in
            view.sync {}
            #expect(names.take() == at(#line - 1))
        }
    }

    @Test func `A delay and a repetition are shown by the call`() throws {
        let context = manual.observed(by: names)
        let delay = context.schedule(after: .seconds(1)) {}
        let line: UInt = #line - 1
        #expect(names.take() == [])
        manual.advance(by: .seconds(1))
        #expect(names.take() == at(line))
        let repetition = context.schedule(every: .seconds(1)) {}
        let repeated: UInt = #line - 1
        manual.advance(by: .seconds(2))
        #expect(names.take() == at(repeated) + at(repeated))
        repetition.cancel()
        withExtendedLifetime(delay) {}
    }

    @Test func `A callback of a future is shown by the call that registers it`() throws {
        let context = manual.observed(by: names)
        let promise = Promise<Int>()
        promise.async.onSuccess(on: context) { _ in }
        let success: UInt = #line - 1
        promise.async.onComplete(on: context) { _ in }
        promise.async.onComplete(on: context, while: InvalidationToken()) { _ in }
        promise.async.tap(on: context) { _ in }
        promise.async.map(on: context) { $0 + 1 }.onComplete { _ in }
        promise.async.andThen(on: context) { _ in }.onComplete { _ in }
        promise.complete(.success(1))
        let lines = [0, 2, 3, 4, 5, 6].map { success + $0 }
        #expect(names.take() == lines.flatMap(at))
        promise.async.onSuccess(on: context) { _ in }
        #expect(names.take() == at(#line - 1))
        try manual.runUntilIdle()
    }

    @Test func `A wrapped handler is shown by the call that wraps it`() throws {
        let context = manual.observed(by: names)
        let handler = context.callback { (_: Int) in }
        let line: UInt = #line - 1
        handler(1)
        #expect(names.take() == at(line))
        try manual.runUntilIdle()
    }

    // MARK: Views

    @TaskLocal private static var local = 0

    @Test func `A view that changes jobs keeps their place`() throws {
        let observed = manual.observed(by: names)
        let section = CriticalSection(name: "section")
        let captured = Box(0)
        let views: [any ExecutionContext] = [
            observed.named("named"),
            observed.propagating(Self.$local),
            observed.intercepted { $0() },
            observed.exclusive(section),
            observed.valid(while: InvalidationToken()),
            observed.inlineIfCurrent(),
            observed.bounded(to: 100, overflow: .refuse),
            observed.intercepted { $0() }.exclusive(section).inlineIfCurrent(),
            Doubled(observed),
        ]
        for view in views {
            view.execute { captured.withValue { $0 += 1 } }
            #expect(names.take() == at(#line - 1), "\(type(of: view))")
            view.submit { captured.withValue { $0 += 1 } }
            #expect(names.take() == at(#line - 1), "\(type(of: view))")
            view.enqueue { captured.withValue { $0 += 1 } }
            #expect(names.take() == at(#line - 1), "\(type(of: view))")
        }
        try manual.runUntilIdle()
        #expect(captured.value == 3 * views.count)
    }

    /// A decorator of a user.
    private struct Doubled<Base: ExecutionContext>: ContextDecorator {
        let base: Base

        init(_ base: Base) { self.base = base }

        func decorate(_ work: @escaping Work) -> Work { { work() } }
    }

    @Test func `Two observers of one job are told the same`() throws {
        let others = NameObserver()
        let context = manual.observed(by: names).observed(by: others)
        context.execute {}
        #expect(names.take() == at(#line - 1))
        context.submit {}
        #expect(names.take() == at(#line - 1))
        #expect(others.take() == at(#line - 4) + at(#line - 2))
        try manual.runUntilIdle()
    }

    @Test func `The drain of a view is named as such`() throws {
        let observed = manual.observed(by: names)
        let views: [any ExecutionContext] = [
            observed.serial(named: "index"), observed.limited(to: 2, named: "index"),
            observed.labeled("labelled").serial(named: "index"),
        ]
        for view in views {
            view.execute {}
            #expect(names.take() == ["drain of 'index'"])
            view.enqueue {}
            view.submit {}
            try manual.runUntilIdle()
            #expect(names.take().allSatisfy { $0 == "drain of 'index'" })
        }
    }
}
