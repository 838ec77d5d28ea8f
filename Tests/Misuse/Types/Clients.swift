import ExecutionContexts

// Law 7: a time limit names the context in whose time it passes.

func limits(_ async: Async<Int>, _ context: some ExecutionContext) {
    _ = async.timeout(after: .seconds(1))
    // expected-error@-1 {{missing argument for parameter 'on' in call}}
    _ = async.timeout(after: .seconds(1), on: context)
    _ = async.delay(.seconds(1), on: context)
}

// Law 27: async code does not block.

func blocks(_ async: Async<Int>) async throws {
    _ = try async.wait()
    // expected-mode6-error@-1 {{instance method 'wait' is unavailable from asynchronous contexts; It blocks a thread that runs tasks (law 27): use 'try await get()'.}}
    // expected-mode5-warning@-2 {{instance method 'wait' is unavailable from asynchronous contexts; It blocks a thread that runs tasks (law 27): use 'try await get()'.; this is an error in the Swift 6 language mode}}
    _ = try await async.get()
}

func blocksAThreadOfItsOwn(_ async: Async<Int>) throws { _ = try async.wait() }

// Law 22: a value that is not Sendable stays on its thread.

final class Draft { var text = "" }

func reads(_ draft: ThreadLocalValue<Draft>, _ number: ThreadLocalValue<Int>) {
    _ = draft.value()
    // expected-mode6-error@-1 {{type 'Draft' does not conform to the 'Sendable' protocol}}
    _ = draft.cachedValue()
    // expected-mode6-error@-1 {{type 'Draft' does not conform to the 'Sendable' protocol}}
    _ = number.value()
    _ = number.cachedValue()
    _ = draft.withCurrent { $0?.text }
    _ = draft.withCurrent { $0 }
    // expected-mode6-error@-1 {{type 'Draft' does not conform to the 'Sendable' protocol}}
    draft.withCurrent { draft in
        let text = draft
        ImmediateContext().execute { _ = text }
        // expected-mode6-error@-1 {{capture of 'text' with non-Sendable type 'Draft?' in a '@Sendable' closure}}
    }
}

// A trailing closure is a body, never a value.

func bodies() {
    let number: Async<Int> = Async { @MainActor in 1 }
    _ = number
    _ = Async { (number: Int) in number }
    // expected-error@-1 {{contextual closure type '@Sendable () async throws -> Int' expects 0 arguments, but 1 was used in closure body}}
}
