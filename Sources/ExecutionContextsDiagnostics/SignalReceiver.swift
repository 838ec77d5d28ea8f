internal import CDiagnostics
internal import ExecutionContexts

/// Calls closures for each signal of one kind that the process gets, while there are any.
///
/// They are called on a separate thread of the library, since a diagnostic signal must be answered
/// even when all threads of Dispatch are blocked. A signal that comes while an earlier one is being
/// handled may be reported together with it.
package final class SignalReceiver: Sendable {
    package typealias Handler = @Sendable () -> Void

    /// The receivers of one signal.
    private struct State {
        /// Retains the receivers, so that no other one gets the address of one in use.
        var handlers: [ObjectIdentifier: (receiver: SignalReceiver, handler: Handler)] = [:]
        /// Whether a thread waits for the signal. It ends when it finds no handler.
        var hasThread = false
    }

    private static let states = Guarded<[Int32: State]>([:])

    private let number: Int32

    /// Receives signals until `stop()`; nil if the system refuses.
    package init?(_ number: Int32, _ handler: @escaping Handler) {
        self.number = number
        let isReceived = Self.states.withUnscheduledLock { states in
            var state = states[number] ?? State()
            if state.handlers.isEmpty {
                let descriptor = ecd_signal_receive(number)
                guard descriptor >= 0 else { return false }
                if !state.hasThread {
                    // Outside: its lock is a scheduling point, and no other thread could be here.
                    state.hasThread = SimulationHooks.outside {
                        LibraryThreads.run(named: "signal \(number)") {
                            Self.serve(number, descriptor)
                        }
                    }
                }
                guard state.hasThread else {
                    ecd_signal_restore(number)
                    return false
                }
            }
            state.handlers[ObjectIdentifier(self)] = (self, handler)
            states[number] = state
            return true
        }
        guard isReceived else { return nil }
    }

    /// Stops receiving. When the last receiver stops, the signal has its previous action again.
    package func stop() {
        // The handler is freed outside of the lock.
        _ = Self.states.withUnscheduledLock { states in
            let handler = states[number]?.handlers.removeValue(forKey: ObjectIdentifier(self))
            if handler != nil, states[number]?.handlers.isEmpty == true {
                ecd_signal_restore(number)
                ecd_signal_wake(number)
            }
            return handler
        }
    }

    /// Calls the handlers after each signal, until there are none.
    private static func serve(_ number: Int32, _ descriptor: Int32) {
        while true {
            let isSignal = ecd_signal_wait(descriptor)
            let handlers = states.withUnscheduledLock { states in
                let handlers = states[number]?.handlers.values.map(\.handler) ?? []
                states[number]?.hasThread = !handlers.isEmpty
                return handlers
            }
            if handlers.isEmpty { return }
            if isSignal { for handler in handlers { AutoreleasePool.run(handler) } }
        }
    }
}
