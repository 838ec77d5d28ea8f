import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Synchronization
import TestSupport
import Testing

/// Compares a queue with a list, step by step, and runs a queue under stress.
@Suite(.patient)
struct PrioritizedQueueModelTests {
    /// The simplest specification of the queue.
    private struct Model {
        struct Job { var number: Int, priority: WorkPriority }
        var waiting: [Job] = []
        /// Handed over but not begun, in order.
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

        /// Removes a job; true if it had not begun.
        mutating func cancel(_ number: Int) -> Bool {
            let before = waiting.count + handed.count
            waiting.removeAll { $0.number == number }
            handed.removeAll { $0 == number }
            defer { start() }
            return waiting.count + handed.count < before
        }
    }

    @Test(arguments: 1...20)
    func `Law 32: a queue behaves like a list of jobs`(_ seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        let manual = ManualContext()
        var model = Model(limit: rng.next(below: 4))
        let queue = PrioritizedQueue(on: manual, limit: model.limit)
        let ran = Box<[Int]>([])
        var works: [QueuedWork<Void>] = []
        func anyPriority() -> WorkPriority { WorkPriority(rawValue: rng.next(below: 5))! }
        for _ in 0..<1500 {
            switch rng.next(below: 11) {
            case 0...2:
                let (number, priority) = (works.count, anyPriority())
                works.append(
                    queue.submit(priority: priority) { ran.withValue { $0.append(number) } })
                model.waiting.append(.init(number: number, priority: priority))
                model.start()
            case 4 where !works.isEmpty:
                let (number, priority) = (rng.next(below: works.count), anyPriority())
                works[number].priority = priority
                if let index = model.waiting.firstIndex(where: { $0.number == number }),
                    model.waiting[index].priority != priority
                {
                    let old = model.waiting.remove(at: index)
                    // A lowered job comes before those of its new priority, a raised one behind
                    // them.
                    let position = priority < old.priority ? 0 : model.waiting.count
                    model.waiting.insert(.init(number: number, priority: priority), at: position)
                }
            case 5 where !works.isEmpty:
                let number = max(works.count - 1 - rng.next(below: 20), 0)
                let expected = model.cancel(number)
                #expect(works[number].cancel() == expected)
            case 6:
                model.limit = rng.next(below: 5)
                queue.limit = model.limit
                model.start()
            case 7:
                model.isSuspended = rng.next(below: 3) == 0
                if model.isSuspended { queue.suspend() } else { queue.resume() }
                model.start()
            default:
                // A job that is cancelled after its hand-over leaves an empty job on the context.
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

    @Test func `Law 32: under stress no job is lost or runs twice, and a changing limit holds`()
        async
    {
        await offThePool {
            let (threads, each) = (16, rounds(debug: 300, release: 3000))
            let queue = PrioritizedQueue(on: .global, limit: 8)
            let outcomes = Box<[Int: Int]>([:])
            let counters = Counters()
            let works = Box<[QueuedWork<Int>]>([])
            onThreads(threads) { thread in
                var rng = SeededRNG(seed: UInt64(thread + 1))
                var own: [QueuedWork<Int>] = []
                for index in 0..<each {
                    let number = thread * each + index
                    let priority = WorkPriority(rawValue: rng.next(below: 5))!
                    own.append(
                        queue.submit(priority: priority) {
                            counters.visit(atMost: 8)
                            return number
                        })
                    switch rng.next(below: 10) {
                    case 0: own[rng.next(below: own.count)].cancel()
                    case 1:
                        own[rng.next(below: own.count)].priority = WorkPriority(
                            rawValue: rng.next(below: 5))!
                    case 2: queue.limit = rng.next(below: 9)
                    case 3 where rng.next(below: 10) == 0: queue.suspend()
                    case 4: queue.resume()
                    default: break
                    }
                }
                works.withValue { $0 += own }
            }
            queue.limit = 8
            queue.resume()
            for work in works.value {
                if let number = try? work.async.wait() {
                    outcomes.withValue { $0[number, default: 0] += 1 }
                }
            }
            #expect(outcomes.value.values.allSatisfy { $0 == 1 })
            #expect(outcomes.value.count == counters.ran)
            #expect(counters.excess == 0)
            #expect(works.value.count == threads * each)
            #expect(queue.pendingCount == 0)
        }
    }

    /// Counts the jobs that run at the same time.
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
