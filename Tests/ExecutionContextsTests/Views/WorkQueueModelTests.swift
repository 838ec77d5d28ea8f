import ExecutionContexts
import Testing

/// The work queue against an array as its model. The queue must free its jobs.
struct WorkQueueModelTests {
    @Test(arguments: 1...8)
    func `A work queue returns what an array returns, and frees each job once`(_ seed: UInt64) {
        let alive = Box(0)
        let ran = Box<[Int]>([])
        var rng = SeededRNG(seed: seed)
        do {
            var queue = WorkQueue()
            var batch = WorkQueue()
            var model: [Int] = []
            var batchModel: [Int] = []
            var next = 0
            for _ in 0..<400 {
                switch rng.next(below: 8) {
                case 0..<4:
                    for _ in 0..<rng.next(below: rng.next(below: 4) == 0 ? 700 : 20) {
                        let capture = Capture(alive)
                        queue.append { [index = next] in
                            _ = capture
                            ran.withValue { $0.append(index) }
                        }
                        model.append(next)
                        next += 1
                    }
                case 4..<6:
                    for _ in 0..<rng.next(below: 40) {
                        let work = queue.popFirst()
                        #expect((work == nil) == model.isEmpty)
                        work?()
                        if work != nil { #expect(ran.value.last == model.removeFirst()) }
                    }
                default:
                    // As a view does: run the batch, reuse its memory, take the next batch.
                    while let work = batch.popFirst() {
                        work()
                        #expect(ran.value.last == batchModel.removeFirst())
                    }
                    #expect(batchModel.isEmpty)
                    queue.reuse(&batch)
                    batch = queue.takeAll()
                    (batchModel, model) = (model, [])
                }
                #expect(queue.count == model.count)
                #expect(queue.isEmpty == model.isEmpty)
                #expect(alive.value == model.count + batchModel.count)
            }
        }
        #expect(alive.value == 0)
    }
}

/// Counts the living instances in `alive`.
private final class Capture: Sendable {
    private let alive: Box<Int>
    init(_ alive: Box<Int>) {
        self.alive = alive
        alive.withValue { $0 += 1 }
    }
    deinit { alive.withValue { $0 -= 1 } }
}
