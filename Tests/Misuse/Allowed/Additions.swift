import ExecutionContexts
import ExecutionContextsObservation

// Views by additions keep each power of their base. It must compile without a warning.

struct Bracketing: ContextAddition {
    func decorate(_ work: @escaping Work) -> Work {
        {
            print("(")
            work()
            print(")")
        }
    }
}

struct Pausing: HoldableAddition {
    func decorate(_ work: @escaping Work) -> Work {
        {
            print("-")
            work()
        }
    }
}

@MainActor final class Screen { var title = "" }

func ownAddition(
    _ token: InvalidationToken, _ screen: Screen, _ barriers: some SynchronousBarrierContext,
    _ refusing: some RefusingContext & SerialContext
) async throws {
    let queue = SerialQueueContext(name: "q").with(Bracketing())
    let text: String = queue.sync { "text" }
    print(text, try queue.sync { try Int("7", format: ()) })
    queue.executeBarrier {}
    BarrierQueueContext(name: "b").with(Bracketing()).executeBarrier {}
    try refusing.with(Bracketing()).tryExecute {}
    try GlobalContext().valid(while: token).with(Bracketing()).tryExecute {}
    MainContext().with(Bracketing()).execute { screen.title = "main" }
    MainContext().with(Bracketing()).named("m").execute { screen.title = "main" }
    _ = MainContext().with(Bracketing()).submit { screen.title }
    _ = try await MainContext().with(Bracketing()).run { screen.title }
    barriers.with(Pausing()).hold().release()
    barriers.with(Pausing()).syncBarrier {}
    _ = ReadWriteCoordinator(over: BarrierQueueContext(name: "b").with(Pausing()))
    _ = Transaction(on: queue.named("t").base.base)
    _ = Tenant(on: queue)
    _ = Tenant(on: queue.named("n").labeled("l"))
}

extension Int {
    init(_ text: String, format: Void) throws { self = text.count }
}

func chains(_ recorder: Recorder, _ section: CriticalSection) {
    SerialQueueContext(name: "db").named("x").observed(by: recorder).sync {}
    let number: Int = SerialQueueContext(name: "db").named("x").labeled("l").exclusive(section)
        .watched(limit: .seconds(1)) { _ in }.intercepted { job in job() }.inlineIfCurrent()
        .sync { 7 }
    print(number)
    SerialQueueContext(name: "db").named("x").observed(by: recorder).hold().release()
    GlobalContext().serial().named("s").observed(by: recorder).syncBarrier {}
}

// The context is the executor, and the actor keeps it.

actor Tenant {
    private let context: any ActorBackingContext
    nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }
    init(on context: some ActorBackingContext) { self.context = context }
}

actor Owner<Context: ActorBackingContext> {
    private let context: Context
    nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }
    init(on context: Context) { self.context = context }
}

struct Stored: Sendable {
    let any: any ExecutionContext
    let barrier: any BarrierContext
    let serial: any SerialContext
    let backing: any ActorBackingContext
    let main: any MainActorContext
    let both: any MainActorContext & ActorBackingContext

    func views(
        _ recorder: Recorder, _ section: CriticalSection, _ token: InvalidationToken,
        _ local: ThreadLocalValue<Int>, _ screen: Screen
    ) throws {
        any.with(.named("n")).with(.observed(by: recorder)).execute {}
        any.with(.labeled("l")).with(.propagating(Deadline.taskLocal)).execute {}
        any.with(.binding(local, to: 1)).with(Interception { job in job() }).execute {}
        any.with(Bracketing()).with(Pausing()).execute {}
        barrier.with(.named("n")).with(.exclusive(section)).executeBarrier {}
        let (inline, watched) = (
            serial.with(.named("n")).with(.inlineIfCurrent),
            serial.with(Watching(limit: .seconds(1)) { print($0) }).with(Bracketing())
        )
        take(inline)
        take(watched)
        let home = backing.with(.named("n")).with(.labeled("l"))
        _ = Tenant(on: home)
        _ = Owner(on: SerialQueueContext(name: "q").named("n").with(Bracketing()))
        _ = Tenant(on: any.with(.named("n")).serial().named("s"))
        main.with(.named("n")).with(.labeled("l")).execute { screen.title = "main" }
        both.with(.named("n")).with(.labeled("l")).execute { screen.title = "main" }
        let screens = both.with(.named("n")).with(.labeled("l"))
        _ = Tenant(on: screens)
        try any.with(.named("n")).valid(while: token).tryExecute {}
        try serial.with(.named("n")).bounded(to: 1, overflow: .refuse).named("b").tryExecute {}
    }

    private func take(_ context: some SerialContext) {}
}
