import CPlatform
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// The record of a thread whose thread-local variables are gone, as at a thread's end on Apple's
/// systems.
struct ThreadRecordTests {
    @Test
    func `A thread whose thread-local variables are gone finds its record again, with its values`()
    {
        let local = ThreadLocalValue<Marker> { _ in Marker() }
        let ended = DispatchSemaphore(value: 0)
        let isKept = Box(false)
        let thread = Thread {
            local.set(Marker(ended))
            let number = SimulationHooks.thread
            ec_thread_set(nil)
            let isSame = SimulationHooks.thread == number && local.cachedValue()?.ended === ended
            isKept.value = isSame
        }
        thread.start()
        // The thread frees the value when it ends, so its record is still found.
        ended.wait()
        #expect(isKept.value)
    }

    private final class Marker: Sendable {
        let ended: DispatchSemaphore?
        init(_ ended: DispatchSemaphore? = nil) { self.ended = ended }
        deinit { ended?.signal() }
    }
}
