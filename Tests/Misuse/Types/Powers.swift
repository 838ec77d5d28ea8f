import ExecutionContexts
import ExecutionContextsWork

// Law 1: a context that cannot refuse has no tryExecute. Law 8: a view without waits has no sync.

func refusing(_ context: any ExecutionContext, _ token: InvalidationToken) throws {
    try GlobalContext().tryExecute {}
    // expected-error@-1 {{value of type 'GlobalContext' has no member 'tryExecute'}}
    try SerialQueueContext(name: "q").tryExecute {}
    // expected-error@-1 {{value of type 'SerialQueueContext' has no member 'tryExecute'}}
    try PoolContext().tryExecute {}
    // expected-error@-1 {{value of type 'PoolContext' has no member 'tryExecute'}}
    try GlobalContext().bounded(to: 1, overflow: .refuse).serial().tryExecute {}
    // expected-error@-1 {{value of type 'SerialView' has no member 'tryExecute'}}
    try context.tryExecute {}
    // expected-error@-1 {{value of type 'any ExecutionContext' has no member 'tryExecute'}}
    try WorkerPool().tryExecute {}
    try GlobalContext().valid(while: token).tryExecute {}
    try GlobalContext().serial().bounded(to: 1, overflow: .refuse).tryExecute {}
}

func waiting(_ context: any ExecutionContext, _ token: InvalidationToken) {
    GlobalContext().sync {}
    // expected-error@-1 {{value of type 'GlobalContext' has no member 'sync'}}
    PoolContext().sync {}
    // expected-error@-1 {{value of type 'PoolContext' has no member 'sync'}}
    SerialQueueContext(name: "q").valid(while: token).sync {}
    // expected-error@-1 {{value of type 'any RefusingContext & SerialContext' has no member 'sync'}}
    let valid = SerialQueueContext(name: "q").valid(while: token)
    valid.sync {}
    // expected-error@-1 {{referencing instance method 'sync' on 'ContextDecorator' requires that 'ValidWhileView<SerialQueueContext>' conform to 'SynchronousContext'}}
    SerialQueueContext(name: "q").bounded(to: 1, overflow: .refuse).sync {}
    // expected-error@-1 {{value of type 'BoundedSerialView' has no member 'sync'}}
    SerialQueueContext(name: "q").limited(to: 1).sync {}
    // expected-error@-1 {{value of type 'LimitedView' has no member 'sync'}}
    BarrierQueueContext(name: "b").barrier().sync {}
    // expected-error@-1 {{value of type 'LimitedView' has no member 'sync'}}
    context.sync {}
    // expected-error@-1 {{value of type 'any ExecutionContext' has no member 'sync'}}
    GlobalContext().serial().sync {}
    BarrierQueueContext(name: "b").sync {}
}

// Laws 2, 16: only a serial context is a SerialContext. A limit of one is not, nor is a section.

func serial(_ context: some SerialContext) {}

func order(
    _ section: CriticalSection, _ erased: any ExecutionContext, _ barrier: any BarrierContext
) {
    serial(.global)
    // expected-error@-1 {{global function 'serial' requires that 'GlobalContext' conform to 'SerialContext'}}
    serial(GlobalContext().limited(to: 1))
    // expected-error@-1 {{global function 'serial' requires that 'LimitedView' conform to 'SerialContext'}}
    serial(SerialQueueContext(name: "q").limited(to: 1))
    // expected-error@-1 {{global function 'serial' requires that 'LimitedView' conform to 'SerialContext'}}
    serial(BarrierQueueContext(name: "b"))
    // expected-error@-1 {{global function 'serial' requires that 'BarrierQueueContext' conform to 'SerialContext'}}
    serial(PoolContext())
    // expected-error@-1 {{global function 'serial' requires that 'PoolContext' conform to 'SerialContext'}}
    serial(section)
    // expected-error@-1 {{global function 'serial' requires that 'CriticalSection' conform to 'SerialContext'}}
    serial(GlobalContext().exclusive(section))
    // expected-error@-1 {{global function 'serial' requires that 'GlobalContext' conform to 'SerialContext'}}
    serial(erased)
    // expected-error@-1 {{global function 'serial' requires that 'some SerialContext' conform to 'SerialContext'}}
    serial(barrier)
    // expected-error@-1 {{global function 'serial' requires that 'some SerialContext' conform to 'SerialContext'}}
    serial(.main)
    serial(GlobalContext().serial().exclusive(section))
    _ = Confined(0, to: GlobalContext())
    // expected-error@-1 {{initializer 'init(_:to:)' requires that 'GlobalContext' conform to 'SerialContext'}}
    _ = WorkGraph(on: .global)
    // expected-error@-1 {{initializer 'init(on:)' requires that 'GlobalContext' conform to 'SerialContext'}}
    _ = Confined(0, to: GlobalContext().serial())
}
