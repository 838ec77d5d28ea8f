import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Tasks that are cancelled while they wait for a permit or an element, under searched schedules.
@Suite(.patient, .systemIsSimulated)
struct CancelledWaitScheduleTests {
    @Test func `Law 35: a cancellation and a permit at once: one of both`() async {
        let report = await search("cancel", schedules: 600) { _ in
            let semaphore = AsyncSemaphore(permits: 1)
            let entered = Box(false)
            let second = Task { try await semaphore.withPermit { entered.value = true } }
            let canceller = Task { second.cancel() }
            try await semaphore.withPermit {}
            await canceller.value
            let result = await second.result
            switch result {
            case .success: if !entered.value { throw Wrong("it never entered") }
            case .failure: if entered.value { throw Wrong("it entered and was cancelled") }
            }
            if semaphore.availableCount != 1 { throw Wrong("a permit is lost") }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 35: a task that is cancelled while another one has the permit never enters`()
        async
    {
        let report = await search("never enters", schedules: 600) { _ in
            let semaphore = AsyncSemaphore(permits: 1)
            let entered = Box(false)
            let second = try await semaphore.withPermit {
                let second = Task { try await semaphore.withPermit { entered.value = true } }
                await Task.yield()
                second.cancel()
                return second
            }
            if case .success = await second.result { throw Wrong("it was not cancelled") }
            if entered.value { throw Wrong("it entered") }
            if semaphore.availableCount != 1 { throw Wrong("a permit is lost") }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 35: bodies of a limiter keep their permits across each await`() async {
        let report = await search("limiter", schedules: 200) { _ in
            let limiter = GlobalContext().limitedTasks(to: 2)
            let room = Room(limit: 2)
            let ends = (0..<4).map { _ in limiter.submitTask { try await room.visit() } }
            ends[3].cancel()
            try await limiter.runTask { try await room.visit() }
            for end in ends.prefix(3) { try await end.get() }
            if limiter.waitingCount != 0 { throw Wrong("a body still waits") }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 36: a cancelled receiver and an element: one of both`() async {
        let report = await search("one of both", schedules: 600) { _ in
            let channel = Channel<Int>(capacity: 1)
            let receiver = Task { try await channel.receive() }
            let canceller = Task { receiver.cancel() }
            try await channel.send(7)
            await canceller.value
            let isLeft = (try? await receiver.value) == nil
            if isLeft != (channel.tryReceive() == 7) {
                throw Wrong("the element is lost or doubled")
            }
        }
        #expect(report.failure == nil, "\(report)")
    }
}
