import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// A pair that a writer changes in two steps, so that a reader detects a torn read.
private final class Pair: @unchecked Sendable {
    // Unchecked: a coordinator guards both.
    var left = 0
    var right = 0
}

@Suite(.patient)
struct ReadWriteStressTests {
    @Test(arguments: [0, 1, 10, 50])
    func `Law 17: each read sees whole writes and its thread's own`(
        percentOfBlockingWrites percent: Int
    )
        async
    {
        let coordinator = ReadWriteCoordinator()
        let pair = Pair()
        let torn = Box(0)
        let missing = Box(0)
        let threads = 4
        let each = 20_000
        await offThePool {
            onThreads(
                (0..<threads).map { index in
                    {
                        var random = UInt32(index + 1)
                        var mine = 0
                        let own = Pair()
                        for step in 0..<each {
                            random = random &* 1_664_525 &+ 1_013_904_223
                            let roll = Int(random >> 16) % 100
                            if roll < percent {
                                coordinator.blockingWrite {
                                    pair.left += 1
                                    pair.right += 1
                                    own.left += 1
                                }
                                mine += 1
                            } else if step % 7 == 0 {
                                coordinator.enqueueWrite {
                                    pair.left += 1
                                    pair.right += 1
                                    own.left += 1
                                }
                                mine += 1
                            } else {
                                let (same, seen) = coordinator.read {
                                    (pair.left == pair.right, own.left)
                                }
                                if !same { torn.withValue { $0 += 1 } }
                                if seen != mine { missing.withValue { $0 += 1 } }
                            }
                        }
                    }
                })
        }
        #expect(torn.value == 0)
        #expect(missing.value == 0)
        #expect(coordinator.read { pair.left } == coordinator.read { pair.right })
    }
}
