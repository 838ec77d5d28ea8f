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

// A context returns what a closure made, if nothing else refers to it.

final class Drawer: Sendable {
    private let shared = LockedResource(Shared(), lockedBy: .section)
    func keep(_ other: sending Shared) { _ = consume other }
}

actor Owner {
    let shared = Shared()

    func keepsWhatItReturns(_ context: some ExecutionContext) async throws -> Int {
        let mine = shared
        let other = try await context.run { Shared() }
        other.count += mine.count
        return other.count
    }
}

func keptInside(_ context: some ExecutionContext, _ drawer: Drawer) async throws {
    _ = try await context.run {
        let shared = Shared()
        drawer.keep(shared)
        // expected-mode6-error@-1 {{sending 'shared' risks causing data races}}
        return shared
    }
    _ = try await context.runTask {
        let shared = Shared()
        drawer.keep(shared)
        // expected-mode6-error@-1 {{sending 'shared' risks causing data races}}
        return shared
    }
}

@MainActor final class Screen { let shared = Shared() }

func keptByTheMainActor(_ context: some MainActorContext, _ screen: Screen) async throws {
    _ = try await context.run { screen.shared }
    // expected-mode6-error@-1 {{returning main actor-isolated 'screen.shared' as a 'sending' result risks causing data races}}
}

func madeInside(_ context: some ExecutionContext) async throws {
    let shared = try await context.run { Shared() }
    shared.count += 1
    let other = try await context.runTask { Shared() }
    other.count += 1
}

// Law 26: one task iterates, and the iteration ends with it.

func iteratedByTwo(_ completions: Async<Int>.Completions) {
    let iterator = completions.makeAsyncIterator()
    Task {
        // expected-mode6-error@-1 {{sending value of non-Sendable type '() async -> ()' risks causing data races}}
        var mine = iterator
        _ = await mine.next()
    }
    Task {
        var mine = iterator
        _ = await mine.next()
    }
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
