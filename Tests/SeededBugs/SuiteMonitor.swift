import ExecutionContexts

/// A value behind a lock, with a condition: a lock and a condition variable of C, or an object of
/// Java with `wait` and `notify`.
///
/// A waiter that is notified competes for the lock with the others, and sees the value as they left
/// it.
final class Monitor<State: Sendable>: Sendable {
    private struct Guarded: Sendable {
        var state: State
        var waiters: [Promise<Void>] = []
    }

    private let guarded: LockedResource<Guarded>

    init(_ state: State, name: String) {
        guarded = LockedResource(Guarded(state: state), lockedBy: .section(named: name))
    }

    func change<Value: Sendable>(_ body: (inout State) throws -> Value) rethrows -> Value {
        try guarded.mutate { try body(&$0.state) }
    }

    /// Waits until `holds`, and then runs `body`, all under the lock.
    ///
    /// Without `checksAgain` it waits once at most, like `if` in place of `while`.
    func wait<Value: Sendable>(
        until holds: (State) -> Bool, checksAgain: Bool = true,
        _ body: (inout State) throws -> Value
    ) throws -> Value {
        var mayWait = true
        while true {
            let (value, notified) = try guarded.mutate { guarded -> (Value?, Promise<Void>?) in
                if !mayWait || holds(guarded.state) { return (try body(&guarded.state), nil) }
                let promise = Promise<Void>()
                guarded.waiters.append(promise)
                return (nil, promise)
            }
            if let value { return value }
            try notified?.async.wait()
            mayWait = checksAgain
        }
    }

    /// Wakes the waiter that has waited longest.
    func notifyOne() {
        let first = guarded.mutate { $0.waiters.isEmpty ? nil : $0.waiters.removeFirst() }
        first?.succeed(())
    }

    func notifyAll() {
        let all = guarded.mutate { guarded in
            defer { guarded.waiters = [] }
            return guarded.waiters
        }
        for waiter in all { waiter.succeed(()) }
    }
}

/// Permits that one place takes and another returns: `sem_t` of C, or a lock that is taken and
/// released by hand.
final class Permits: Sendable {
    private let free: Monitor<Int>

    init(_ count: Int, name: String) { free = Monitor(count, name: name) }

    func take() throws { try free.wait(until: { $0 > 0 }) { $0 -= 1 } }

    func giveBack() {
        free.change { $0 += 1 }
        free.notifyOne()
    }
}
