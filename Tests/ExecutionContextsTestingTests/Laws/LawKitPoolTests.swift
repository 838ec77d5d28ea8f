import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The kit may be used by several tests at a time.
struct LawKitPoolTests {
    @Test func `Actors that are checked at the same time do not keep each other from answering`()
        async
    {
        let breaches = await withTaskGroup(of: [LawBreach].self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await Laws.check(Guest().context, laws: [13], patience: Patience.event)
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(breaches.isEmpty, "\(breaches)")
    }
}

private actor Guest {}
