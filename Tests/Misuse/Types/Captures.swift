import ExecutionContexts

final class Counter { var count = 0 }

// A job may run on another thread, so its captures must be Sendable.

func captures(_ context: some ExecutionContext) {
    let shared = Counter()
    context.execute { shared.count += 1 }
    // expected-mode6-error@-1 {{capture of 'shared' with non-Sendable type 'Counter' in a '@Sendable' closure}}
    var count = 0
    context.execute { count += 1 }
    // expected-mode6-error@-1 {{mutation of captured var 'count' in concurrently-executing code}}
    // expected-mode5-warning@-2 {{mutation of captured var 'count' in concurrently-executing code; this is an error in the Swift 6 language mode}}
    context.execute { Counter().count += 1 }
}

func returnsItsCapture(_ context: some ExecutionContext) async throws {
    let shared = Counter()
    _ = try await context.run { shared }
    // expected-mode6-error@-1 {{capture of 'shared' with non-Sendable type 'Counter' in a '@Sendable' closure}}
}

// Law 1: an interceptor cannot keep a job, or run it elsewhere.

func intercepts(_ context: some ExecutionContext) {
    _ = context.intercepted { job in
        GlobalContext().execute { job() }
        // expected-mode6-error@-1 {{capture of 'job' with non-Sendable type '() -> Void' in a '@Sendable' closure}}
    }
    _ = context.intercepted { job in job() }
}
