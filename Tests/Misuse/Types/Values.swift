import ExecutionContexts

final class Shared { var count = 0 }

// Laws 25, 30: the value of a future, and a value that leaves a lock, is Sendable.

func futures(_ context: some SerialContext) {
    _ = Promise<Shared>()
    // expected-mode6-error@-1 2 {{type 'Shared' does not conform to the 'Sendable' protocol}}
    _ = context.submit { Shared() }
    // expected-mode6-error@-1 {{type 'Shared' does not conform to the 'Sendable' protocol}}
    _ = Async(.success(Shared()))
    // expected-mode6-error@-1 2 {{type 'Shared' does not conform to the 'Sendable' protocol}}
    _ = context.submit { 1 }.map { _ in Shared() }
    // expected-mode6-error@-1 {{type 'Shared' does not conform to the 'Sendable' protocol}}
    _ = context.submit { 1 }.map { $0 + 1 }
}

func resources() {
    let shared = LockedResource(Shared(), lockedBy: .section)
    _ = shared.read { $0.count }
    // expected-mode6-error@-1 {{type 'Shared' does not conform to the 'Sendable' protocol}}
    _ = shared.mutate { $0 }
    // expected-mode6-error@-1 {{type 'Shared' does not conform to the 'Sendable' protocol}}
    _ = shared.mutate { $0.count }
    let number = LockedResource(1, lockedBy: .section)
    number.read { $0 += 1 }
    // expected-error@-1 {{left side of mutating operator isn't mutable: '$0' is immutable}}
    _ = number.read { $0 }
}

// Law 13: a closure for the main context is isolated to the main actor; any other closure is not.

@MainActor final class Screen { var title = "" }

func main(_ screen: Screen) {
    MainContext().execute { screen.title = "main" }
    GlobalContext().execute { screen.title = "global" }
    // expected-error@-1 {{main actor-isolated property 'title' can not be mutated from a Sendable closure}}
    GlobalContext().serial().execute { screen.title = "serial" }
    // expected-error@-1 {{main actor-isolated property 'title' can not be mutated from a Sendable closure}}
    _ = MainContext().submit { screen.title }
    _ = GlobalContext().submit { screen.title }
    // expected-error@-1 {{main actor-isolated property 'title' can not be referenced from a Sendable closure}}
}
