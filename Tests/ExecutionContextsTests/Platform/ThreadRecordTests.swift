import CPlatform
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// What a thread keeps when its thread-local variables go before it, as they do at a thread's end
/// on Apple's systems.
struct ThreadRecordTests {
    @Test
    func `A thread that has lost its thread-local variables gets its record back, with its values`() {
        let local = ThreadLocalValue<Marker> { _ in Marker() }
        let ended = DispatchSemaphore(value: 0)
        let isKept = Box(false)
        let thread = Thread {
            local.set(Marker(ended))
            let number = Seam.thread
            ec_thread_set(nil)
            let isSame = Seam.thread == number && local.cachedValue()?.ended === ended
            isKept.value = isSame
        }
        thread.start()
        // The value is freed on the thread when this ends, so its record has not been lost.
        ended.wait()
        #expect(isKept.value)
    }

    private final class Marker: Sendable {
        let ended: DispatchSemaphore?
        init(_ ended: DispatchSemaphore? = nil) { self.ended = ended }
        deinit { ended?.signal() }
    }
}
