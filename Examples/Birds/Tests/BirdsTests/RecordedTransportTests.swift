import ExecutionContexts
import ExecutionContextsObservation
import Foundation
import Testing

@testable import Birds

/// A recorder shows each request.
struct RecordedTransportTests {
    private let base = FakeTransport(isManual: true)
    private let recorder = Recorder()
    private var transport: RecordedTransport {
        RecordedTransport(base: base, recorder: recorder)
    }

    @Test func `A request is shown by its path, from its begin to its answer`() throws {
        let answer = transport.get("/birds.json")
        #expect(recorder.jobs.map(\.context) == ["GET /birds.json"])
        #expect(recorder.jobs.first?.state == .running)
        base.prepare(.success(Data("[]".utf8)), at: "/birds.json")
        base.answer()
        #expect(try answer.outcome?.get() == Data("[]".utf8))
        #expect(recorder.jobs.map(\.state) == [.finished])
    }

    @Test func `Law 26: a cancelled request ends, and is shown as ended`() {
        transport.get("/slow").cancel()
        #expect(base.cancelled == ["/slow"])
        #expect(recorder.jobs.map(\.state) == [.finished])
    }
}
