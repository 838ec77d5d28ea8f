import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Synchronization
import Testing

/// A queue against a list, step by step, and under stress.
@Suite(.timeLimit(.minutes(30)))
struct PrioritizedQueueModelTests {
    /// What the queue is to do, as simply as can be said.
    private struct Model {
        struct Piece { var number: Int, priority: WorkPriority }
        var waiting: [Piece] = []
        /// Handed over and not begun, in order.
        var handed: [Int] = []
        var ran: [Int] = []
        var limit: Int
        var isSuspended = false

        mutating func start() {
            while !isSuspended, handed.count < limit, let best = waiting.map(\.priority).max() {
                let index = waiting.firstIndex { $0.priority == best }!
                handed.append(waiting.remove(at: index).number)
            }
        }

        /// Whether it had not begun.
        mutating func cancel(_ number: Int) -> Bool {
            let before = waiting.count + handed.count
            waiting.removeAll { $0.number == number }
            handed.removeAll { $0 == number }
            defer { start() }
            return waiting.count + handed.count < before
        }
    }

    @Test(arguments: 1...20)
    func `Law 32: a queue does what a list of pieces does`(_ seed: UInt64) {
        var dice = Dice(seed: seed)
        let manual = ManualContext()
        var model = Model(limit: dice.roll(4))
        let queue = PrioritizedQueue(on: manual, limit: model.limit)
        let ran = Box<[Int]>([])
        var works: [QueuedWork<Void>] = []
        func anyPriority() -> WorkPriority { WorkPriority(rawValue: dice.roll(5))! }
        for _ in 0..<1500 {
            switch dice.roll(11) {
            case 0...2:
                let (number, priority) = (works.count, anyPriority())
                works.append(queue.submit(priority: priority) { ran.withValue { $0.append(number) } })
                model.waiting.append(.init(number: number, priority: priority))
                model.start()
            case 4 where !works.isEmpty:
                let (number, priority) = (dice.roll(works.count), anyPriority())
                works[number].priority = priority
                if let index = model.waiting.firstIndex(where: { $0.number == number }),
                    model.waiting[index].priority != priority
                {
                    let old = model.waiting.remove(at: index)
                    // A lowered one comes before those of its new priority, a raised one behind
                    // them.
                    let place = priority < old.priority ? 0 : model.waiting.count
                    model.waiting.insert(.init(number: number, priority: priority), at: place)
                }
            case 5 where !works.isEmpty:
                let number = max(works.count - 1 - dice.roll(20), 0)
                let expected = model.cancel(number)
                #expect(works[number].cancel() == expected)
            case 6:
                model.limit = dice.roll(5)
                queue.limit = model.limit
                model.start()
            case 7:
                model.isSuspended = dice.roll(3) == 0
                if model.isSuspended { queue.suspend() } else { queue.resume() }
                model.start()
            default:
                // A cancelled piece that was handed over leaves an empty turn behind.
                let before = ran.value.count
                while manual.step(), ran.value.count == before {}
                if !model.handed.isEmpty {
                    model.ran.append(model.handed.removeFirst())
                    model.start()
                }
            }
            #expect(ran.value == model.ran)
            #expect(queue.pendingCount == model.waiting.count)
            #expect(queue.runningCount == model.handed.count)
            #expect(
                works.suffix(5).map(\.isPending)
                    == works.indices.suffix(5).map { number in
                        model.waiting.contains { $0.number == number }
                    })
        }
    }

    @Test
    func `Law 32: under stress nothing is forgotten, nothing runs twice and the limit holds as it changes`()
        async
    {
        await offThePool {
            let (threads, each) = (16, rounds(debug: 300, release: 3000))
            let queue = PrioritizedQueue(on: .global, limit: 8)
            let outcomes = Box<[Int: Int]>([:])
            let counters = Counters()
            let works = Box<[QueuedWork<Int>]>([])
            onThreads(threads) { thread in
                var dice = Dice(seed: UInt64(thread + 1))
                var own: [QueuedWork<Int>] = []
                for index in 0..<each {
                    let number = thread * each + index
                    let priority = WorkPriority(rawValue: dice.roll(5))!
                    own.append(
                        queue.submit(priority: priority) {
                            counters.visit(atMost: 8)
                            return number
                        })
                    switch dice.roll(10) {
                    case 0: own[dice.roll(own.count)].cancel()
                    case 1: own[dice.roll(own.count)].priority = WorkPriority(rawValue: dice.roll(5))!
                    case 2: queue.limit = dice.roll(9)
                    case 3 where dice.roll(10) == 0: queue.suspend()
                    case 4: queue.resume()
                    default: break
                    }
                }
                works.withValue { $0 += own }
            }
            queue.limit = 8
            queue.resume()
            for work in works.value {
                if let number = try? work.async.wait() { outcomes.withValue { $0[number, default: 0] += 1 } }
            }
            #expect(outcomes.value.values.allSatisfy { $0 == 1 })
            #expect(outcomes.value.count == counters.ran)
            #expect(counters.excess == 0)
            #expect(works.value.count == threads * each)
            #expect(queue.pendingCount == 0)
        }
    }

    /// Counts who is at work at the same time.
    private final class Counters: Sendable {
        private let inside = Atomic(0)
        private let over = Atomic(0)
        private let total = Atomic(0)

        var excess: Int { over.load(ordering: .relaxed) }
        var ran: Int { total.load(ordering: .relaxed) }

        func visit(atMost limit: Int) {
            if inside.wrappingAdd(1, ordering: .relaxed).newValue > limit {
                over.wrappingAdd(1, ordering: .relaxed)
            }
            total.wrappingAdd(1, ordering: .relaxed)
            inside.wrappingSubtract(1, ordering: .relaxed)
        }
    }
}
