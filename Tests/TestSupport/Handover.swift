import Dispatch
package import ExecutionContexts
import Foundation

/// Runs each job on a separate thread, and returns when that thread has run and freed it.
///
/// A submitter that still references the job then frees its captures on the wrong thread, always.
package struct Handover: ExecutionContext {
    package init() {}

    package func execute(_ work: consuming @escaping Work) {
        let parcel = Parcel(consume work)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            parcel.open()
            done.signal()
        }
        done.wait()
    }

    /// Moves the job to its thread.
    private final class Parcel: @unchecked Sendable {
        // Unchecked: one thread after another uses it.
        private var work: Work?
        init(_ work: consuming @escaping Work) { self.work = consume work }
        func open() { work.take()?() }
    }
}

/// A `Handover` that claims to be serial.
package struct HandoverInOrder: SerialContext {
    package init() {}

    package func execute(_ work: consuming @escaping Work) { Handover().execute(consume work) }
}
