internal import Dispatch
internal import Foundation

/// Calls a closure for each signal of one kind, until `stop()`.
final class SignalSource: @unchecked Sendable {
    // Unchecked: constants, of which Dispatch does not say that they may be used on any thread, as
    // they may.
    private let source: any DispatchSourceSignal
    private let number: Int32
    private let before: sigaction

    init(_ number: Int32, _ body: @escaping @Sendable () -> Void) {
        self.number = number
        // Dispatch learns of the signal beside its handler, which must not end the process.
        var ignored = sigaction()
        var before = sigaction()
        unsafe sigemptyset(&ignored.sa_mask)
        SystemCalls.ignore(&ignored)
        unsafe sigaction(number, &ignored, &before)
        self.before = before
        source = DispatchSource.makeSignalSource(
            signal: number, queue: DispatchQueue.global(qos: .userInitiated))
        source.setEventHandler(handler: body)
        source.activate()
    }

    func stop() {
        source.cancel()
        var before = before
        unsafe sigaction(number, &before, nil)
    }
}
