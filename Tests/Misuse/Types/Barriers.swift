import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import Foundation

// Law 3: a context that cannot keep barriers does not have them.

func contextsWithoutBarriers(_ context: any ExecutionContext, _ section: CriticalSection) {
    GlobalContext().executeBarrier {}
    // expected-error@-1 {{value of type 'GlobalContext' has no member 'executeBarrier'}}
    PoolContext().executeBarrier {}
    // expected-error@-1 {{value of type 'PoolContext' has no member 'executeBarrier'}}
    WorkerPool().executeBarrier {}
    // expected-error@-1 {{value of type 'WorkerPool' has no member 'executeBarrier'}}
    BlockingContext().executeBarrier {}
    // expected-error@-1 {{value of type 'BlockingContext' has no member 'executeBarrier'}}
    ImmediateContext().executeBarrier {}
    // expected-error@-1 {{value of type 'ImmediateContext' has no member 'executeBarrier'}}
    TrampolineContext().executeBarrier {}
    // expected-error@-1 {{value of type 'TrampolineContext' has no member 'executeBarrier'}}
    OperationQueue().context.executeBarrier {}
    // expected-error@-1 {{value of type 'OperationQueueContext' has no member 'executeBarrier'}}
    ClosureContext { $0() }.executeBarrier {}
    // expected-error@-1 {{value of type 'ClosureContext' has no member 'executeBarrier'}}
    section.executeBarrier {}
    // expected-error@-1 {{value of type 'CriticalSection' has no member 'executeBarrier'}}
    context.executeBarrier {}
    // expected-error@-1 {{value of type 'any ExecutionContext' has no member 'executeBarrier'}}
}

func viewsWithoutBarriers(_ token: InvalidationToken) {
    GlobalContext().named("n").executeBarrier {}
    // expected-error@-1 {{referencing instance method 'executeBarrier' on 'ContextView' requires that 'GlobalContext' conform to 'SerialContext'}}
    GlobalContext().intercepted { $0() }.executeBarrier {}
    // expected-error@-1 {{referencing instance method 'executeBarrier' on 'ContextView' requires that 'GlobalContext' conform to 'SerialContext'}}
    GlobalContext().inlineIfCurrent().executeBarrier {}
    // expected-error@-1 {{referencing instance method 'executeBarrier' on 'ContextView' requires that 'GlobalContext' conform to 'SerialContext'}}
    GlobalContext().valid(while: token).executeBarrier {}
    // expected-error@-1 {{value of type 'any RefusingContext' has no member 'executeBarrier'}}
    GlobalContext().bounded(to: 1, overflow: .refuse).executeBarrier {}
    // expected-error@-1 {{value of type 'BoundedView' has no member 'executeBarrier'}}
    GlobalContext().observed(by: Recorder()).executeBarrier {}
    // expected-error@-1 {{referencing instance method 'executeBarrier' on 'ContextView' requires that 'GlobalContext' conform to 'SerialContext'}}
}

func viewsWithBarriers(_ token: InvalidationToken) {
    GlobalContext().barrier().executeBarrier {}
    GlobalContext().limited(to: 2).executeBarrier {}
    BarrierQueueContext(name: "b").valid(while: token).executeBarrier {}
    BarrierQueueContext(name: "b").bounded(to: 1, overflow: .refuse).named("n").executeBarrier {}
}

// Law 8: an overflow policy that breaks the order or the barriers of a known base is deprecated.

func overflow(_ notify: @escaping @Sendable (Refusal) -> Void) {
    _ = SerialQueueContext(name: "q").bounded(to: 1, overflow: .callerRuns)
    // expected-warning@-1 {{'bounded(to:overflow:)' is deprecated: callerRuns, or dropOldest if the context is not serial, breaks order (law 8) and traps}}
    _ = GlobalContext().serial().bounded(to: 1, overflow: .callerRuns)
    // expected-warning@-1 {{'bounded(to:overflow:)' is deprecated: callerRuns, or dropOldest if the context is not serial, breaks order (law 8) and traps}}
    _ = BarrierQueueContext(name: "b").bounded(to: 1, overflow: .callerRuns)
    // expected-warning@-1 {{'bounded(to:overflow:)' is deprecated: callerRuns, or dropOldest if the context is not serial, breaks order (law 8) and traps}}
    _ = BarrierQueueContext(name: "b").bounded(to: 1, overflow: .dropOldest(notify: notify))
    // expected-warning@-1 {{'bounded(to:overflow:)' is deprecated: callerRuns, or dropOldest if the context is not serial, breaks order (law 8) and traps}}
    _ = SerialQueueContext(name: "q").bounded(to: 1, overflow: .dropOldest(notify: notify))
    _ = SerialQueueContext(name: "q").bounded(to: 1, overflow: .refuse)
    _ = BarrierQueueContext(name: "b").bounded(to: 1, overflow: .wait)
    _ = GlobalContext().bounded(to: 1, overflow: .callerRuns)
    _ = GlobalContext().bounded(to: 1, overflow: .dropOldest(notify: notify))
}

// Law 28: a transaction needs a context with barriers that a thread can wait for.

func transactions() {
    _ = Transaction(on: GlobalContext())
    // expected-error@-1 {{initializer 'init(on:)' requires that 'GlobalContext' conform to 'SynchronousBarrierContext'}}
    _ = Transaction(on: GlobalContext().barrier())
    // expected-error@-1 {{initializer 'init(on:)' requires that 'LimitedView' conform to 'SynchronousBarrierContext'}}
    _ = Transaction(on: SerialQueueContext(name: "q").bounded(to: 1, overflow: .refuse))
    // expected-error@-1 {{initializer 'init(on:)' requires that 'BoundedSerialView' conform to 'SynchronousBarrierContext'}}
    _ = Transaction(on: BarrierQueueContext(name: "b"))
    _ = Transaction(on: GlobalContext().serial())
    _ = ReadWriteCoordinator(over: GlobalContext())
    // expected-error@-1 {{initializer 'init(name:over:)' requires that 'GlobalContext' conform to 'SynchronousBarrierContext'}}
    _ = ReadWriteCoordinator(over: BarrierQueueContext(name: "b"))
}
