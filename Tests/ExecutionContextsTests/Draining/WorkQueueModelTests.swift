import ExecutionContexts
import Testing

/// The queue of work against an array, and that it frees what it holds.
struct WorkQueueModelTests {
    @Test(arguments: 1...8)
    func `A work queue gives out what an array gives out, and frees each piece once`(_ seed: UInt64) {
        let alive = Box(0)
        let ran = Box<[Int]>([])
        var dice = Dice(seed: seed)
        do {
            var queue = WorkQueue()
            var batch = WorkQueue()
            var model: [Int] = []
            var batchModel: [Int] = []
            var next = 0
            for _ in 0..<400 {
                switch dice.roll(8) {
                case 0..<4:
                    for _ in 0..<dice.roll(dice.roll(4) == 0 ? 700 : 20) {
                        let piece = Piece(alive)
                        queue.append { [index = next] in
                            _ = piece
                            ran.withValue { $0.append(index) }
                        }
                        model.append(next)
                        next += 1
                    }
                case 4..<6:
                    for _ in 0..<dice.roll(40) {
                        let work = queue.popFirst()
                        #expect((work == nil) == model.isEmpty)
                        work?()
                        if work != nil { #expect(ran.value.last == model.removeFirst()) }
                    }
                default:
                    // As a view does: the batch runs out, its memory is used again, the next one is taken.
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

/// Counts itself while it lives.
private final class Piece: Sendable {
    private let alive: Box<Int>
    init(_ alive: Box<Int>) {
        self.alive = alive
        alive.withValue { $0 += 1 }
    }
    deinit { alive.withValue { $0 -= 1 } }
}
