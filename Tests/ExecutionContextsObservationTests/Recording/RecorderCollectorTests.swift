import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

@testable import ExecutionContextsObservation

/// What a collector takes out of the thread buffers, against a model.
struct RecorderCollectorTests {
    /// Each event here is an effect of all earlier ones. So what a collector takes must be the
    /// first events, and among them those that were reported before it began.
    @Test(arguments: 0..<30)
    func `A collector takes causes before effects, whatever is reported meanwhile`(seed: Int) {
        var random = SeededRNG(seed: UInt64(seed))
        let buffers = RecorderBuffers(capacity: 100_000)
        var ring = RecorderRing(capacity: 100_000)
        let lane = RecorderLane(
            name: "lane", timeSource: SystemTime.shared.identity, isAsync: false)
        #expect(ring.lanes.add(lane, limit: 1) == 0)
        let threads = UInt32(2 + random.next(below: 4))
        for thread in 1...threads { buffers.note(0, ofView: 1, in: 0, thread: thread) }
        var reported: UInt64 = 0
        func report() {
            for _ in 0..<random.next(below: 12) {
                let thread = 1 + UInt32(random.next(below: Int(threads)))
                let number = reported + 1
                let event = PackedEvent(
                    .started, thread, 1, number, nil, .unknown, waited: 0, ran: 0,
                    at: Int64(number))
                let isAdded = unsafe buffers.buffer(of: thread)?._withUnsafeGuaranteedRef {
                    $0.append(event!)
                }
                if isAdded == true { reported = number }
            }
        }
        for _ in 0..<12 {
            report()
            let before = reported
            buffers.collect(into: &ring) { buffer in
                report()
                defer { report() }
                return buffer.written
            }
            let parts = ring.copy()
            let numbers = parts.indices.map { PackedEvent.unpacked(parts, at: $0).job.job }
            #expect(numbers.count >= before)
            #expect(numbers == Array((1...(reported + 1)).prefix(numbers.count)))
        }
        buffers.collect(into: &ring)
        #expect(ring.used == Int(reported))
    }
}
