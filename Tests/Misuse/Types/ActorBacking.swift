import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting

// Law 13: only a serial context that runs each job can back an actor, also if its type is erased.

func refusingViews(_ token: InvalidationToken) {
    _ = SerialQueueContext(name: "q").bounded(to: 1, overflow: .refuse).serialExecutor
    // expected-error@-1 {{value of type 'some RefusingContext & SerialContext' has no member 'serialExecutor'}}
    _ = SerialQueueContext(name: "q").bounded(to: 1, overflow: .wait).serialExecutor
    // expected-error@-1 {{value of type 'some RefusingContext & SerialContext' has no member 'serialExecutor'}}
    _ =
        SerialQueueContext(name: "q").bounded(to: 1, overflow: .dropOldest(notify: { _ in }))
        .serialExecutor
    // expected-error@-1 {{value of type 'some RefusingContext & SerialContext' has no member 'serialExecutor'}}
    _ = SerialQueueContext(name: "q").valid(while: token).serialExecutor
    // expected-error@-1 {{value of type 'some RefusingContext & SerialContext' has no member 'serialExecutor'}}
    _ = SerialQueueContext(name: "q").valid(while: token).intercepted { $0() }.serialExecutor
    // expected-error@-1 {{value of type 'some SerialContext' has no member 'serialExecutor'}}
    _ = MainContext().valid(while: token).serialExecutor
    // expected-error@-1 {{reference to member 'serialExecutor' cannot be resolved without a contextual type}}
    _ = GlobalContext().serial().bounded(to: 1, overflow: .refuse).serialExecutor
    // expected-error@-1 {{reference to member 'serialExecutor' cannot be resolved without a contextual type}}
    _ = GlobalContext().serial().valid(while: token).named("n").serialExecutor
    // expected-error@-1 {{reference to member 'serialExecutor' cannot be resolved without a contextual type}}
    _ = GlobalContext().serial().bounded(to: 1, overflow: .refuse).inlineIfCurrent().serialExecutor
    // expected-error@-1 {{reference to member 'serialExecutor' cannot be resolved without a contextual type}}
    _ =
        GlobalContext().serial().bounded(to: 1, overflow: .refuse).exclusive(CriticalSection())
        .serialExecutor
    // expected-error@-1 {{reference to member 'serialExecutor' cannot be resolved without a contextual type}}
    _ =
        GlobalContext().serial().valid(while: token).observed(by: Recorder()).barrier()
        .serialExecutor
    // expected-error@-1 {{reference to member 'serialExecutor' cannot be resolved without a contextual type}}
    _ = ManualContext().bounded(to: 1, overflow: .wait).serialExecutor
    // expected-error@-1 {{reference to member 'serialExecutor' cannot be resolved without a contextual type}}
}

func contextsWithoutOrder(_ section: CriticalSection, _ coordinator: ReadWriteCoordinator) {
    _ = GlobalContext().serialExecutor
    // expected-error@-1 {{value of type 'GlobalContext' has no member 'serialExecutor'}}
    _ = PoolContext().serialExecutor
    // expected-error@-1 {{value of type 'PoolContext' has no member 'serialExecutor'}}
    _ = WorkerPool().serialExecutor
    // expected-error@-1 {{value of type 'WorkerPool' has no member 'serialExecutor'}}
    _ = BlockingContext().serialExecutor
    // expected-error@-1 {{value of type 'BlockingContext' has no member 'serialExecutor'}}
    _ = ImmediateContext().serialExecutor
    // expected-error@-1 {{value of type 'ImmediateContext' has no member 'serialExecutor'}}
    _ = SerialQueueContext(name: "q").limited(to: 1).serialExecutor
    // expected-error@-1 {{value of type 'some BarrierContext' has no member 'serialExecutor'}}
    _ = BarrierQueueContext(name: "b").serialExecutor
    // expected-error@-1 {{value of type 'BarrierQueueContext' has no member 'serialExecutor'}}
    _ = section.serialExecutor
    // expected-error@-1 {{value of type 'CriticalSection' has no member 'serialExecutor'}}
    _ = coordinator.reading.serialExecutor
    // expected-error@-1 {{value of type 'ReadingContext' has no member 'serialExecutor'}}
}

func erased(
    _ some: some SerialContext, _ any: any SerialContext,
    _ both: any SerialContext & RefusingContext,
    _ context: any ExecutionContext
) {
    _ = some.serialExecutor
    // expected-error@-1 {{value of type 'some SerialContext' has no member 'serialExecutor'}}
    _ = any.serialExecutor
    // expected-error@-1 {{value of type 'any SerialContext' has no member 'serialExecutor'}}
    _ = both.serialExecutor
    // expected-error@-1 {{value of type 'any RefusingContext & SerialContext' has no member 'serialExecutor'}}
    _ = context.serialExecutor
    // expected-error@-1 {{value of type 'any ExecutionContext' has no member 'serialExecutor'}}
}

struct Own: SerialContext { func execute(_ work: @escaping Work) {} }

actor Lodger {
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }
    init(on context: some ActorBackingContext) { executor = context.serialExecutor }
}

func lodgers() {
    _ = Lodger(on: Own())
    // expected-error@-1 {{initializer 'init(on:)' requires that 'Own' conform to 'ActorBackingContext'}}
    _ = Lodger(on: GlobalContext().serial())
    _ = Lodger(on: SerialQueueContext(name: "q").bounded(to: 1, overflow: .refuse))
    // expected-error@-1 {{initializer 'init(on:)' requires that 'some RefusingContext & SerialContext' conform to 'ActorBackingContext'}}
    _ = Lodger(on: .serial(named: "q"))
}
