import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// What belongs to a screen, injected with the context on which it is used.
@MainActor private final class Screen {
    private(set) var log: [String] = []
    private let ui: any MainActorContext

    init(on ui: any MainActorContext = MainContext()) { self.ui = ui }

    func note(_ what: String) { log.append(what) }

    /// Each closure below is one of the main actor, and changes what only that actor may change.
    func useJobs() {
        ui.execute { self.note("execute") }
        ui { self.note("call") }
        ui.schedule(after: .seconds(1)) { self.note("after") }
        ui.schedule(at: ContextInstant(nanoseconds: 2_000_000_000)) { self.note("at") }
        let repetition = ui.schedule(every: .seconds(3)) {
            let count = self.log.count
            self.note("every \(count)")
        }
        ui.schedule(after: .seconds(4)) {
            repetition.cancel()
            self.note("cancel")
        }
        ui.submit {
            self.note("submit")
            return self.log.count
        }.onSuccess(on: ui) { count in
            let text = "submitted \(count)"
            self.note(text)
        }
    }

    func useFutures(_ value: Async<Int>, _ error: Async<Int>, while token: InvalidationToken) {
        value.onSuccess(on: ui) { self.note("success \($0)") }
        value.onComplete(on: ui) { outcome in
            self.note("complete")
            _ = outcome
        }
        value.onComplete(on: ui, while: token) { _ in self.note("never") }
        value.tap(on: ui) { _ in self.note("tap") }
        error.onFailure(on: ui) { self.note("failure \($0)") }
        _ = value.map(on: ui) { number -> Int in
            self.note("map")
            return number + 1
        }
        _ = value.flatMap(on: ui) { number -> Async<Int> in
            self.note("flatMap")
            return Async(.success(number))
        }
        _ = error.mapError(on: ui) { error -> any Error in
            self.note("mapError")
            return error
        }
        _ = error.recover(on: ui) { _ in
            self.note("recover")
            return 1
        }
        _ = error.flatRecover(on: ui) { _ in
            self.note("flatRecover")
            return value
        }
        _ = Async<Int>.retry(attempts: 1, on: ui) { attempt in
            self.note("retry \(attempt)")
            return value
        }
        _ = Async<Int>.traverse([1, 2], atMost: 1, on: ui) { element in
            self.note("traverse \(element)")
            return Async(.success(element))
        }
    }

    func usePaces() {
        let search = ui.debounced(by: .seconds(1)) { (text: String) in self.note("search \(text)") }
        let scroll = ui.throttled(to: .seconds(1), .latest) { (place: Int) in
            self.note("scroll \(place)")
        }
        search("w")
        search("wren")
        scroll(1)
        scroll(2)
    }

    func useHandlers() {
        let done = ui.callback { self.note("handler") }
        let show = ui.callback { (text: String) in
            self.note("handler of")
            self.note(text)
        }
        done()
        show("one")
    }
}

@MainActor struct MainActorContextTests {
    private struct Wrong: Error, CustomStringConvertible { let description = "wrong" }

    @Test func `Jobs, delays and repetitions take closures of the main actor`() throws {
        let ui = ManualMainContext()
        let screen = Screen(on: ui)
        screen.useJobs()
        #expect(screen.log.isEmpty)
        ui.runReady()
        #expect(screen.log == ["execute", "call", "submit", "submitted 3"])
        ui.advance(by: .seconds(10))
        #expect(screen.log.dropFirst(4) == ["after", "at", "every 6", "cancel"])
        try ui.finish()
    }

    @Test func `Futures take closures of the main actor`() {
        let ui = ManualMainContext()
        let screen = Screen(on: ui)
        let token = InvalidationToken()
        let value = Promise<Int>()
        screen.useFutures(value.async, Async(error: Wrong()), while: token)
        value.succeed(7)
        token.invalidate()
        ui.runReady()
        #expect(
            Set(screen.log) == [
                "success 7", "complete", "tap", "failure wrong", "map", "flatMap", "mapError",
                "recover", "flatRecover", "retry 1", "traverse 1", "traverse 2",
            ])
        #expect(screen.log.count == 12)
    }

    @Test func `Paced calls and handlers take closures of the main actor`() throws {
        let ui = ManualMainContext()
        let screen = Screen(on: ui)
        screen.usePaces()
        screen.useHandlers()
        try ui.runUntilIdle()
        #expect(
            screen.log.sorted() == [
                "handler", "handler of", "one", "scroll 2", "search wren",
            ])
    }

    @Test func `A value comes back from a closure of the main actor`() async throws {
        let ui = ManualMainContext()
        let screen = Screen(on: ui)
        let count = try ui.sync { () throws -> Int in
            screen.note("sync")
            return screen.log.count
        }
        #expect(count == 1)
        let main = MainContext()
        // A closure of the main actor, of a caller elsewhere.
        await offThePool {
            let views = (main.named("named"), main.inlineIfCurrent().labeled("label"))
            #expect(main.sync { screen.log.count } == 1)
            #expect(views.0.sync { screen.log.count } == 1)
            #expect(views.1.sync { screen.log.count } == 1)
        }
        let text = try await main.run {
            screen.note("run")
            return screen.log.joined(separator: " ")
        }
        #expect(text == "sync run")
    }

    @Test func `Each view of a context on the main actor is one`() throws {
        let ui = ManualMainContext()
        let screen = Screen(on: ui)
        let base: any MainActorContext = ui
        let section = CriticalSection()
        let local = ThreadLocalValue<Int>()
        let views: [any MainActorContext] = [
            base.with(.named("named")), base.with(.inlineIfCurrent),
            base.valid(while: InvalidationToken()), base.bounded(to: 9, overflow: .refuse),
            base.with(.exclusive(section)), base.with(.binding(local, to: 1)),
            base.with(.propagating()), base.with(.observed(by: Recorder())),
            base.with(Watching(limit: .seconds(1)) { _ in }),
            // Of a context that also backs actors.
            ui.named("named"), ui.inlineIfCurrent(), ui.exclusive(section), ui.barrier(),
            ui.binding(local, to: 1), ui.observed(by: Recorder()),
        ]
        for (index, view) in views.enumerated() {
            view.execute { screen.note("\(index)") }
            view.with(.named("again")).execute { screen.note("\(index) again") }
        }
        ui.runReady()
        #expect(screen.log == views.indices.flatMap { ["\($0)", "\($0) again"] })
        let backing: any ActorBackingContext = ui.named("still backs actors")
        #expect(backing.name == "still backs actors")
        let main: any ActorBackingContext & MainActorContext = MainContext().named("screen")
        #expect(main.name == "screen")
    }

    @Test func `Law 4: a job that is run off the main actor traps with a message`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let ui = ManualMainContext(name: "screen")
            ui.execute {}
            await offThePool { ui.base.runReady() }
        }
        try expectTrap(result, "'screen'", "law 4", "main actor")
    }
}
