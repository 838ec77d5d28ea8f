internal import CPlatform
internal import Dispatch

/// Calls closures for each signal of one kind that the process gets, while there are any.
///
/// A signal that comes while an earlier one is being handled may be told together with it.
package final class SignalReceiver: Sendable {
    package typealias Handler = @Sendable () -> Void

    private struct State {
        /// With the receivers, so that no other one gets the address of one that is in use.
        var handlers: [ObjectIdentifier: (receiver: SignalReceiver, handler: Handler)] = [:]
        var source: (any DispatchSourceRead)?
    }

    /// The receivers of each signal. Unchecked: see `Guarded`.
    private static let states = Guarded<[Int32: State]>([:])

    private let number: Int32

    /// Receives signals until `stop()`; nil if the system refuses.
    package init?(_ number: Int32, _ handler: @escaping Handler) {
        self.number = number
        let isReceived = Self.states.withUnscheduledLock { states in
            var state = states[number] ?? State()
            if state.handlers.isEmpty {
                let descriptor = ec_signal_receive(number)
                guard descriptor >= 0 else { return false }
                state.source = Self.source(descriptor, of: number)
            }
            state.handlers[ObjectIdentifier(self)] = (self, handler)
            states[number] = state
            return true
        }
        guard isReceived else { return nil }
    }

    /// With the last receiver of it, the signal does again what it did before.
    package func stop() {
        // The handler is freed outside of the lock.
        _ = Self.states.withUnscheduledLock { states in
            let handler = states[number]?.handlers.removeValue(forKey: ObjectIdentifier(self))
            if handler != nil, states[number]?.handlers.isEmpty == true {
                ec_signal_restore(number)
                states[number]?.source?.cancel()
                states[number]?.source = nil
            }
            return handler
        }
    }

    private static func source(_ descriptor: Int32, of number: Int32) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue.global(qos: .userInitiated))
        source.setEventHandler {
            guard ec_signal_take(descriptor) else { return }
            let handlers = states.withUnscheduledLock { states in
                states[number].map { $0.handlers.values.map(\.handler) } ?? []
            }
            for handler in handlers { handler() }
        }
        source.activate()
        return source
    }
}
