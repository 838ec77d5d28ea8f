import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// What the handler of a cancellation may do: Swift calls it while it holds a lock of the task's.
@Suite(.patient, .withoutThreadSanitizer("it has its own functions for the runtime's lock"))
struct CancellationHandlerTests {
    /// Waits for an event by a continuation, as code does that bridges from callbacks.
    private final class Event: Sendable {
        private enum State {
            case idle, cancelled, over
            case waiting(CheckedContinuation<Bool, Never>)
        }
        private let state = LockedResource(State.idle, lockedBy: .section)

        /// Whether the event came before a cancellation.
        func value() async -> Bool {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let known: Bool? = state.mutate { state in
                        switch state {
                        case .cancelled: return false
                        case .over: return true
                        case .idle, .waiting:
                            state = .waiting(continuation)
                            return nil
                        }
                    }
                    if let known { continuation.resume(returning: known) }
                }
            } onCancel: {
                end(.cancelled, with: false)
            }
        }

        func happen() { end(.over, with: true) }

        private func end(_ end: State, with value: Bool) {
            let waiting: CheckedContinuation<Bool, Never>? = state.mutate { state in
                switch state {
                case .waiting(let continuation):
                    state = end
                    return continuation
                case .idle:
                    state = end
                    return nil
                case .cancelled, .over: return nil
                }
            }
            waiting?.resume(returning: value)
        }
    }

    @Test func `Law 33: a handler uses a lock of the library`() async {
        await expectNoFailure("bridge") { sim in
            let event = Event()
            let task = Task(name: "waits") { await event.value() }
            Task(name: "cancels") { task.cancel() }
            sim.spawn("happens") { event.happen() }
            _ = await task.value
        }
    }

    @Test func `Law 33: a handler uses contexts, actors and tasks`() async {
        actor Log {
            var count = 0
            func add() { count += 1 }
        }
        await expectNoFailure("handler") { sim in
            let (log, serial, event) = (Log(), sim.serial(named: "serial"), Event())
            let task = Task(name: "waits") {
                await withTaskCancellationHandler {
                    await event.value()
                } onCancel: {
                    serial.execute {}
                    sim.global.execute {}
                    Task(name: "logs") { await log.add() }
                }
            }
            Task(name: "cancels") { task.cancel() }
            _ = await task.value
        }
    }
}
