import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting

// Law 13: only a serial context that runs each job can back an actor, also if its type is erased.

func refusingViews(_ token: InvalidationToken) {
    _ = SerialQueueContext(name: "q").bounded(to: 1, overflow: .refuse).asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'BoundedSerialView' has no member 'asUnownedSerialExecutor'}}
    _ = SerialQueueContext(name: "q").bounded(to: 1, overflow: .wait).asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'BoundedSerialView' has no member 'asUnownedSerialExecutor'}}
    _ =
        SerialQueueContext(name: "q").bounded(to: 1, overflow: .dropOldest(notify: { _ in }))
        .asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'BoundedSerialView' has no member 'asUnownedSerialExecutor'}}
    _ = SerialQueueContext(name: "q").valid(while: token).asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'ValidWhileView<SerialQueueContext>' has no member 'asUnownedSerialExecutor'}}
    _ =
        SerialQueueContext(name: "q").valid(while: token).intercepted { $0() }
        .asUnownedSerialExecutor()
    // expected-error@-1 {{referencing instance method 'asUnownedSerialExecutor()' on 'ContextView' requires that 'ValidWhileView<SerialQueueContext>' conform to 'ActorBackingContext'}}
    _ = MainContext().valid(while: token).asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'ValidWhileView<MainContext>' has no member 'asUnownedSerialExecutor'}}
    _ = GlobalContext().serial().bounded(to: 1, overflow: .refuse).asUnownedSerialExecutor()
    // expected-error@-1 {{reference to member 'asUnownedSerialExecutor' cannot be resolved without a contextual type}}
    _ = GlobalContext().serial().valid(while: token).named("n").asUnownedSerialExecutor()
    // expected-error@-1 {{referencing instance method 'asUnownedSerialExecutor()' on 'ContextView' requires that 'ValidWhileView<SerialView>' conform to 'ActorBackingContext'}}
    _ =
        GlobalContext().serial().bounded(to: 1, overflow: .refuse).inlineIfCurrent()
        .asUnownedSerialExecutor()
    // expected-error@-1 {{referencing instance method 'asUnownedSerialExecutor()' on 'ContextView' requires that 'BoundedBarrierView' conform to 'ActorBackingContext'}}
    _ =
        GlobalContext().serial().bounded(to: 1, overflow: .refuse).exclusive(CriticalSection())
        .asUnownedSerialExecutor()
    // expected-error@-1 {{referencing instance method 'asUnownedSerialExecutor()' on 'ContextView' requires that 'BoundedBarrierView' conform to 'ActorBackingContext'}}
    _ =
        GlobalContext().serial().valid(while: token).observed(by: Recorder()).barrier()
        .asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'LimitedView' has no member 'asUnownedSerialExecutor'}}
    _ = ManualContext().bounded(to: 1, overflow: .wait).asUnownedSerialExecutor()
    // expected-error@-1 {{reference to member 'asUnownedSerialExecutor' cannot be resolved without a contextual type}}
}

func contextsWithoutOrder(_ section: CriticalSection, _ coordinator: ReadWriteCoordinator) {
    _ = GlobalContext().asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'GlobalContext' has no member 'asUnownedSerialExecutor'}}
    _ = PoolContext().asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'PoolContext' has no member 'asUnownedSerialExecutor'}}
    _ = WorkerPool().asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'WorkerPool' has no member 'asUnownedSerialExecutor'}}
    _ = BlockingContext().asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'BlockingContext' has no member 'asUnownedSerialExecutor'}}
    _ = ImmediateContext().asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'ImmediateContext' has no member 'asUnownedSerialExecutor'}}
    _ = SerialQueueContext(name: "q").limited(to: 1).asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'LimitedView' has no member 'asUnownedSerialExecutor'}}
    _ = BarrierQueueContext(name: "b").asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'BarrierQueueContext' has no member 'asUnownedSerialExecutor'}}
    _ = section.asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'CriticalSection' has no member 'asUnownedSerialExecutor'}}
    _ = coordinator.reading.asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'ReadingContext' has no member 'asUnownedSerialExecutor'}}
}

func erased(
    _ some: some SerialContext, _ any: any SerialContext,
    _ both: any SerialContext & RefusingContext,
    _ context: any ExecutionContext
) {
    _ = some.asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'some SerialContext' has no member 'asUnownedSerialExecutor'}}
    _ = any.asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'any SerialContext' has no member 'asUnownedSerialExecutor'}}
    _ = both.asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'any RefusingContext & SerialContext' has no member 'asUnownedSerialExecutor'}}
    _ = context.asUnownedSerialExecutor()
    // expected-error@-1 {{value of type 'any ExecutionContext' has no member 'asUnownedSerialExecutor'}}
}

struct Own: SerialContext { func execute(_ work: @escaping Work) {} }

// The context is the executor of the actor, so it is an object.

struct Copied: ActorBackingContext { func execute(_ work: @escaping Work) {} }
// expected-error@-1 {{non-class type 'Copied' cannot conform to class protocol 'Executor'}}
// expected-error@-2 {{non-class type 'Copied' cannot conform to class protocol 'SerialExecutor'}}
// expected-error@-3 {{non-class type 'Copied' cannot conform to class protocol 'ActorBackingContext'}}

final class Kept: ActorBackingContext { func execute(_ work: @escaping Work) {} }

actor Lodger {
    private let context: any ActorBackingContext
    nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }
    init(on context: some ActorBackingContext) { self.context = context }
}

func lodgers() {
    _ = Lodger(on: Own())
    // expected-error@-1 {{initializer 'init(on:)' requires that 'Own' conform to 'ActorBackingContext'}}
    _ = Lodger(on: Kept())
    _ = Lodger(on: GlobalContext().serial())
    _ = Lodger(on: GlobalContext().named("n"))
    // expected-error@-1 {{actor 'Lodger' requires that 'GlobalContext' conform to 'ActorBackingContext'}}
    _ = Lodger(on: SerialQueueContext(name: "q").bounded(to: 1, overflow: .refuse))
    // expected-error@-1 {{initializer 'init(on:)' requires that 'BoundedSerialView' conform to 'ActorBackingContext'}}
    _ = Lodger(on: .serial(named: "q"))
}
