import ExecutionContexts
import Foundation
import Testing

@Suite(.timeLimit(.minutes(2)))
struct CriticalSectionTests {
    @Test func `Law 14: many threads inside one section never lose an update`() async {
        let section = CriticalSection()
        // Unchecked by the compiler, guarded by the section.
        nonisolated(unsafe) var count = 0
        await offThePool {
            onThreads(200) {
                for _ in 0..<1_000 { section.execute { unsafe count += 1 } }
            }
        }
        #expect(unsafe count == 200_000)
    }
}
