import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

@testable import Birds

/// Time limits and repeated attempts, in virtual time.
struct PersistentTransportTests {
    let clock = ManualContext(name: "clock")
    let refused = BirdError.status(503, path: "/birds.json")

    /// Three attempts of at most ten seconds; one second between the first two, then two.
    private func persistent(_ base: FakeTransport) -> PersistentTransport {
        PersistentTransport(base: base, context: clock, backoff: .exponential(from: .seconds(1)))
    }

    /// Expects that no job, delay or request is pending.
    private func expectNothingPending(_ transport: FakeTransport) {
        #expect(clock.readyCount == 0)
        #expect(clock.delayedCount == 0)
        #expect(transport.pendingCount == 0)
    }

    @Test func `Law 7: attempts are made when the back-off says so, until one succeeds`() throws {
        let transport = FakeTransport(["/birds.json": .failure(refused)])
        let answer = persistent(transport).get("/birds.json")
        clock.runReady()
        #expect(transport.asked.count == 1)
        clock.advance(by: .milliseconds(999))
        #expect(transport.asked.count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(transport.asked.count == 2)
        transport.prepare(.success(Data("[]".utf8)), at: "/birds.json")
        clock.advance(by: .milliseconds(1_999))
        #expect(answer.outcome == nil)
        clock.advance(by: .milliseconds(1))
        #expect(try answer.outcome?.get() == Data("[]".utf8))
        #expect(transport.asked.count == 3)
        expectNothingPending(transport)
    }

    @Test func `The error of the last attempt is the answer`() {
        let transport = FakeTransport(["/birds.json": .failure(refused)])
        let answer = persistent(transport).get("/birds.json")
        clock.advance(by: .seconds(3))
        #expect(throws: refused) { try answer.outcome?.get() }
        #expect(transport.asked.count == 3)
        expectNothingPending(transport)
    }

    @Test(arguments: [
        BirdError.status(404, path: "/birds.json"), .unreadable("/birds.json"),
        .badPath("/birds.json"),
    ])
    func `An error that would recur is not retried`(_ error: BirdError) {
        let transport = FakeTransport(["/birds.json": .failure(error)])
        let answer = persistent(transport).get("/birds.json")
        clock.runReady()
        #expect(throws: error) { try answer.outcome?.get() }
        #expect(transport.asked.count == 1)
        expectNothingPending(transport)
    }

    @Test func `An attempt that takes too long is cancelled, and the next one starts`() throws {
        let transport = FakeTransport(FakeTransport.ofSite([]), isManual: true)
        let answer = persistent(transport).get("/birds.json")
        clock.runReady()
        clock.advance(by: .milliseconds(9_999))
        #expect(transport.cancelled.isEmpty)
        clock.advance(by: .milliseconds(1))
        #expect(transport.cancelled.count == 1)
        #expect(transport.pendingCount == 0)
        clock.advance(by: .seconds(1))
        transport.answer()
        #expect(try answer.outcome?.get() == Data("[]".utf8))
        expectNothingPending(transport)
    }

    @Test func `A server that never answers is an error in the end`() {
        let transport = FakeTransport(isManual: true)
        let answer = persistent(transport).get("/birds.json")
        // Three times ten seconds, and between them one and two.
        clock.advance(by: .seconds(33) - .milliseconds(1))
        #expect(answer.outcome == nil)
        clock.advance(by: .milliseconds(1))
        #expect(throws: AsyncError.timedOut(after: .seconds(10))) { try answer.outcome?.get() }
        #expect(transport.cancelled.count == 3)
        expectNothingPending(transport)
    }

    @Test(arguments: [Duration.zero, .seconds(5), .seconds(10) + .milliseconds(500), .seconds(12)])
    func `Law 26: a cancel in an attempt, or between two, prevents further attempts`(
        after time: Duration
    ) {
        let transport = FakeTransport(isManual: true)
        let answer = persistent(transport).get("/birds.json")
        clock.advance(by: time)
        let count = transport.asked.count
        #expect(answer.cancel())
        expectNothingPending(transport)
        clock.advance(by: .seconds(3_600))
        #expect(transport.asked.count == count)
        #expect(transport.cancelled.count == count)
    }

    @Test func `Birds come although each path is refused at first`() throws {
        let transport = FakeTransport()
        let birds = BirdDataSource(transport: persistent(transport), workingOn: clock).getBirds()
        clock.runReady()
        for (path, answer) in FakeTransport.ofSite() {
            transport.prepare(path == "/birds.json" ? answer : .failure(refused), at: path)
        }
        clock.advance(by: .seconds(1))
        #expect(transport.asked.count == 6)
        for (path, answer) in FakeTransport.ofSite() { transport.prepare(answer, at: path) }
        clock.advance(by: .seconds(1))
        #expect(try birds.outcome?.get() == BirdSite.birds(BirdSite().names))
        expectNothingPending(transport)
    }
}
