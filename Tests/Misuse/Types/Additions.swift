import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsWork

// Law 8: a hold runs no job, so it has nothing of what an addition does to jobs.

struct Bracketing: ContextAddition {
    func decorate(_ work: @escaping Work) -> Work {
        {
            print("before")
            work()
        }
    }
}

struct Pausing: HoldableAddition {
    func decorate(_ work: @escaping Work) -> Work {
        {
            print("before")
            work()
        }
    }
}

func holds(_ section: CriticalSection, _ base: some SynchronousBarrierContext) {
    _ = base.exclusive(section).hold()
    // expected-error@-1 {{referencing instance method 'hold()' on 'ContextView' requires that 'Exclusion' conform to 'HoldableAddition'}}
    base.exclusive(section).syncBarrier {}
    // expected-error@-1 {{no exact matches in call to instance method 'syncBarrier'}}
    _ = SerialQueueContext(name: "q").with(Bracketing()).hold()
    // expected-error@-1 {{referencing instance method 'hold()' on 'ContextView' requires that 'Bracketing' conform to 'HoldableAddition'}}
    BarrierQueueContext(name: "b").with(Bracketing()).syncBarrier {}
    // expected-error@-1 {{referencing instance method 'syncBarrier' on 'ContextView' requires that 'Bracketing' conform to 'HoldableAddition'}}
    _ = Transaction(on: SerialQueueContext(name: "q").exclusive(section))
    // expected-error@-1 {{struct 'Transaction' requires that 'Exclusion' conform to 'HoldableAddition'}}
    base.exclusive(section).sync {}
    base.exclusive(section).executeBarrier {}
    base.with(Pausing()).hold().release()
    base.with(Pausing()).syncBarrier {}
}

// A stored context has `with(_:)`. The type of its views is not known, so the names that return one
// are refused.

func stored(
    _ context: any ExecutionContext, _ serial: any SerialContext,
    _ backing: any ActorBackingContext, _ section: CriticalSection, _ observer: some ContextObserver
) {
    _ = context.named("n")
    // expected-error@-1 {{member 'named' cannot be used on value of type 'any ExecutionContext'; consider using a generic constraint instead}}
    _ = serial.labeled("l")
    // expected-error@-1 {{member 'labeled' cannot be used on value of type 'any SerialContext'; consider using a generic constraint instead}}
    _ = context.observed(by: observer)
    // expected-error@-1 {{member 'observed' cannot be used on value of type 'any ExecutionContext'; consider using a generic constraint instead}}
    _ = backing.exclusive(section)
    // expected-error@-1 {{member 'exclusive' cannot be used on value of type 'any ActorBackingContext'; consider using a generic constraint instead}}
    _ = serial.inlineIfCurrent()
    // expected-error@-1 {{member 'inlineIfCurrent' cannot be used on value of type 'any SerialContext'; consider using a generic constraint instead}}
    _ = context.intercepted { job in job() }
    // expected-error@-1 {{member 'intercepted' cannot be used on value of type 'any ExecutionContext'; consider using a generic constraint instead}}
    _ = context.propagating(Deadline.taskLocal)
    // expected-error@-1 {{member 'propagating' cannot be used on value of type 'any ExecutionContext'; consider using a generic constraint instead}}
    _ = context.watched(limit: .seconds(1)) { stall in print(stall) }
    // expected-error@-1 {{member 'watched' cannot be used on value of type 'any ExecutionContext'; consider using a generic constraint instead}}
    _ = Confined(0, to: serial.with(.named("n")))
    // expected-error@-1 {{member 'with' cannot be used on value of type 'any SerialContext'; consider using a generic constraint instead}}
    let named = serial.with(.named("n"))
    _ = Confined(0, to: named)
    _ = context.with(.named("n"))
    _ = serial.with(.labeled("l"))
    _ = context.with(.observed(by: observer))
    _ = backing.with(.exclusive(section))
    _ = serial.with(.inlineIfCurrent)
    _ = context.with(Interception { job in job() })
    _ = context.with(.propagating(Deadline.taskLocal))
    _ = context.with(Watching(limit: .seconds(1)) { stall in print(stall) })
}

// The power of a base that is erased stays erased.

func erased(_ stored: any ExecutionContext) {
    stored.with(.named("n")).sync {}
    // expected-error@-1 {{value of type 'any ExecutionContext' has no member 'sync'}}
    stored.with(.named("n")).executeBarrier {}
    // expected-error@-1 {{value of type 'any ExecutionContext' has no member 'executeBarrier'}}
}
