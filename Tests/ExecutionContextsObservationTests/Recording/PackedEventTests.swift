import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

@testable import ExecutionContextsObservation

/// Events in five words, and the ring that keeps them.
struct PackedEventTests {
    private typealias Identity = ObservedWork.Identity

    /// Numbers at both sides of each limit of the packed form.
    private static func number(_ random: inout SeededRNG) -> UInt64 {
        let bits = [0, 1, 8, 20, 23, 24, 31, 32, 43, 44, 55, 56, 62].randomElement(using: &random)!
        return (1 << UInt64(bits)) &+ UInt64(random.next(below: 3)) &- 1
    }

    private static func event(_ random: inout SeededRNG) -> RecorderEntry {
        func identity() -> Identity {
            Identity(ofView: max(number(&random) % (1 << 40), 1), job: number(&random))
        }
        let kind = RecordedEvent.Kind(rawValue: UInt8(random.next(below: 4)))!
        let isAsync = random.next(below: 3) == 0
        let enqueued = Int64(truncatingIfNeeded: random.next()) >> Int64(random.next(below: 40))
        let waited = isAsync ? 0 : Int64(bitPattern: number(&random))
        // A submission has neither waited nor run.
        let isSubmission = kind == .enqueued && random.next(below: 8) > 0
        let started =
            isSubmission ? enqueued : enqueued &+ (random.next(below: 8) == 0 ? 0 - waited : waited)
        let job = identity()
        return RecorderEntry(
            kind: kind, thread: UInt32(truncatingIfNeeded: number(&random)),
            lane: UInt32(random.next(below: 2001)),
            job: isAsync ? Identity(ofView: job.view, job: 1) : job, enqueued: enqueued,
            started: started,
            ended: isSubmission ? started : started &+ Int64(bitPattern: number(&random)),
            submitter: random.next(below: 2) == 0 ? identity() : nil,
            completer: isAsync && random.next(below: 2) == 0 ? identity() : nil,
            source: RecordedSource(word: kind == .enqueued ? random.next() : 0))
    }

    @Test func `What is packed is unpacked again, at both sides of each limit`() {
        var random = SeededRNG(seed: 1)
        var short = 0
        let count = rounds(debug: 50_000, release: 200_000)
        for _ in 0..<count {
            let event = Self.event(&random)
            var parts = PackedEvent(event).map { [$0] } ?? PackedEvent.long(event)
            for index in parts.indices { parts[index].setLane(event.lane) }
            #expect(parts[0].length == parts.count)
            let unpacked = PackedEvent.unpacked(parts, at: 0)
            #expect(unpacked == event)
            if unpacked != event { return }
            if parts.count == 1 { short += 1 }
        }
        // Both forms occur often enough to be tested.
        #expect(short > count / 20 && short < count / 20 * 19)
    }

    @Test func `An ordinary event takes 40 bytes`() {
        #expect(MemoryLayout<PackedEvent>.stride == 40)
        let limit: UInt64 = (1 << 32) - 1
        let hours: Int64 = (1 << 44) - 1
        let event = RecorderEntry(
            kind: .finished, thread: (1 << 24) - 1, lane: 2000,
            job: Identity(ofView: limit, job: limit), enqueued: .min, started: .min + hours,
            ended: .min + 2 * hours, submitter: Identity(ofView: limit, job: limit),
            completer: nil, source: .unknown)
        #expect(PackedEvent(event)?.length == 1)
    }

    @Test(arguments: 0..<20)
    func `A full ring keeps the newest events, also beside long ones`(seed: Int) {
        var random = SeededRNG(seed: UInt64(seed))
        let capacity = 1 + random.next(below: 9)
        let recorder = Recorder(capacity: capacity)
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        // A model: the length and the instant of each event.
        var kept: [(length: Int, kind: RecordedEvent.Kind, instant: ContextInstant)] = []
        var dropped = 0
        func note(_ kind: RecordedEvent.Kind, isLong: Bool) {
            let length = isLong ? 3 : 1
            while kept.count == capacity
                || kept.reduce(length, { $0 + $1.length }) > max(capacity, 3)
            {
                kept.removeFirst()
                dropped += 1
            }
            kept.append((length, kind, manual.now))
        }
        for _ in 0..<200 {
            let isLong = random.next(below: 4) == 0
            note(.enqueued, isLong: false)
            view.execute {}
            manual.stall(for: isLong ? .seconds(20_000) : .seconds(1))
            note(.started, isLong: isLong)
            note(.finished, isLong: isLong)
            manual.runReady()
            let events = recorder.events
            #expect(events.map(\.kind) == kept.map(\.kind))
            #expect(events.map(\.instant) == kept.map(\.instant))
            #expect(recorder.overwritten == dropped)
        }
    }

    @Test func `An observer that is not enabled is told of no job`() async throws {
        final class Switch: ContextObserver {
            let isOn = Box(false)
            let told = Box<[String]>([])
            var isEnabled: Bool { isOn.value }
            func enqueued(_ job: ObservedWork) {
                told.withValue { $0.append("enqueued \(job.id)") }
            }
            func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {
                told.withValue { $0.append("finished \(job.id)") }
            }
            func abandoned(_ job: ObservedWork, waited: Duration) {
                told.withValue { $0.append("abandoned \(job.id)") }
            }
        }
        let observer = Switch()
        let ran = Box(0)
        let count: Work = { ran.withValue { $0 += 1 } }
        let barrier = SerialQueueContext(name: "queue").observed(by: observer)
        let manual = ManualContext()
        let full = manual.bounded(to: 1, overflow: .refuse).observed(by: observer)
        @Sendable func useAll() throws {
            ImmediateContext().observed(by: observer).execute(count)
            barrier.sync(count)
            barrier.syncBarrier(count)
            let hold = barrier.hold()
            count()
            hold.release()
            try full.tryExecute(count)
            #expect(throws: Refusal.self) { try full.tryExecute {} }
            manual.runReady()
        }
        await offThePool {
            #expect(throws: Never.self) { try useAll() }
            #expect(observer.told.value.isEmpty)
            observer.isOn.value = true
            #expect(throws: Never.self) { try useAll() }
        }
        #expect(ran.value == 10)
        #expect(observer.told.value.count { $0.hasPrefix("finished") } == 5)
        #expect(observer.told.value.count { $0.hasPrefix("abandoned") } == 1)
    }
}
