import ExecutionContexts
import ExecutionContextsWork

final class Shared { var count = 0 }

// Law 30: a value is sent into a resource, and its caller loses it; no part of it escapes.

func usedAfterItWasSent() {
    let shared = Shared()
    let resource = LockedResource(shared, lockedBy: .section)
    // expected-mode6-error@-1 {{sending 'shared' risks causing data races}}
    resource.mutate { $0.count += 1 }
    shared.count += 1
}

func confinedAndUsed(_ context: some SerialContext) {
    let shared = Shared()
    let confined = Confined(shared, to: context)
    // expected-mode6-error@-1 {{sending 'shared' risks causing data races}}
    confined.perform { $0.count += 1 }
    shared.count += 1
}

func escapes(_ resource: LockedResource<Shared>) {
    var escaped: Shared?
    resource.mutate { escaped = $0 }
    // expected-mode6-error@-1 {{'inout sending' parameter '$0' cannot be task-isolated at end of function}}
    _ = escaped
}

func putsIn(_ resource: LockedResource<Shared>, _ mine: Shared) {
    resource.mutate { $0 = mine }
    // expected-mode6-error@-1 {{'inout sending' parameter '$0' cannot be task-isolated at end of function}}
}

func sentAndForgotten(_ context: some SerialContext) {
    let resource = LockedResource(Shared(), lockedBy: .section)
    resource.mutate { $0 = Shared() }
    Confined(Shared(), to: context).perform { $0 = Shared() }
}

// Law 28: a hold is released once.

func releasedTwice(_ context: some SynchronousBarrierContext) {
    let hold = context.hold()
    // expected-error@-1 {{'hold' consumed more than once}}
    hold.release()
    hold.release()
}

func copied(_ context: some SynchronousBarrierContext) {
    let hold = context.hold()
    // expected-error@-1 {{'hold' consumed more than once}}
    let other = hold
    hold.release()
    other.release()
}

func releasedOnce(_ context: some SynchronousBarrierContext) {
    let hold = context.hold()
    hold.release()
}

// Law 22: no part of a thread-local value that is not Sendable leaves the closure it is passed to.

func leavesItsThread(_ local: ThreadLocalValue<Shared>) {
    var escaped: Shared?
    local.withCurrent { escaped = $0 }
    // expected-mode6-error@-1 {{'inout sending' parameter '$0' cannot be task-isolated at end of function}}
    _ = escaped
}

func leavesByATask(_ local: ThreadLocalValue<Shared>) {
    local.withCurrent { current in
        let shared = current
        Task { shared?.count += 1 }
        // expected-mode6-error@-1 {{sending value of non-Sendable type '() async -> ()?' risks causing data races}}
    }
}

func comesFromElsewhere(_ local: ThreadLocalValue<Shared>, _ mine: Shared) {
    local.withCurrent { $0 = mine }
    // expected-mode6-error@-1 {{'inout sending' parameter '$0' cannot be task-isolated at end of function}}
    local.set(mine)
    // expected-mode6-error@-1 {{sending 'mine.some' risks causing data races}}
}

func staysOnItsThread(_ local: ThreadLocalValue<Shared>) {
    local.withCurrent { $0?.count += 1 }
    local.withCurrent { $0 = Shared() }
    _ = local.withCurrent { $0?.count }
    local.set(Shared())
}
