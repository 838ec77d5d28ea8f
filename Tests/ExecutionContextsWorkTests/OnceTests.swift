import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Testing

@Suite(.timeLimit(.minutes(5)))
struct OnceTests {
    @Test func `The first wins, and nobody else`() {
        let once = Once()
        #expect(!once.isClaimed)
        var ran = 0
        #expect(once { ran += 1 })
        #expect(!once { ran += 1 })
        #expect(!once.claim())
        #expect(once.isClaimed)
        #expect(ran == 1)
    }

    @Test func `A body that throws has won all the same`() {
        struct Failure: Error {}
        let once = Once()
        #expect(throws: Failure.self) { try once { () throws(Failure) in throw Failure() } }
        #expect(!once.claim())
    }
}
