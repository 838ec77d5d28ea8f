import ExecutionContexts
import ExecutionContextsWork
import TestSupport
import Testing

/// Draws programs that use a queue from the outside, from its jobs, its completions and the deinits
/// of its captures, over bases that reorder, refuse, drop, repeat or nest, and compares each step
/// with a model.
@Suite(.patient)
struct PrioritizedQueueAdversaryTests {
    @Test(arguments: [DrivenBase.Manner.inOrder, .anyOrder, .faulty, .inline], [false, true])
    func `Laws 1, 9, 32: a queue does what the model does, whatever its base and its jobs do`(
        _ manner: DrivenBase.Manner, _ isReliable: Bool
    ) {
        // The library's own contexts refuse and drop nothing, and run nothing inline.
        if isReliable, manner == .faulty || manner == .inline { return }
        for seed in 1...UInt64(rounds(debug: 50, release: 1_500)) {
            let play = QueuePlay(seed: seed, manner, isReliable: isReliable)
            play.run()
            #expect(play.faults.isEmpty, "seed \(seed): \(play.faults)")
        }
    }
}

/// One program. All of it runs on the thread of the test.
private final class QueuePlay: @unchecked Sendable {
    // Unchecked: one thread uses it.
    private var rng: SeededRNG
    private let base: DrivenBase
    private let queue: PrioritizedQueue
    private let model: QueueModel
    private var works: [(number: Int, work: QueuedWork<Int>)] = []
    private var openWorks: [(number: Int, work: OpenWork<Int>)] = []
    /// The numbers of the jobs whose `Async` has a callback, and how often it was called.
    private var notified: [Int: Int] = [:]
    private var count = 0
    private var depth = 0
    private var isOver = false
    /// Whether callbacks and deinits do nothing now.
    private var isQuiet = false

    var faults: [String] { model.faults }

    init(seed: UInt64, _ manner: DrivenBase.Manner, isReliable: Bool) {
        rng = SeededRNG(seed: seed)
        let limit = rng.next(below: 4)
        base =
            isReliable
            ? ReliableDrivenBase(manner, seed: seed) : DrivenBase(manner, seed: seed)
        queue = PrioritizedQueue(on: base, limit: limit)
        model = QueueModel(limit: limit, isInOrder: isReliable)
    }

    func run() {
        for _ in 0..<60 {
            if rng.next(below: 3) == 0 { base.step() } else { act() }
            compare()
        }
        // All that was accepted ends.
        isOver = true
        model.setSuspended(false)
        queue.resume()
        model.catchUp()
        model.setLimit(2)
        queue.limit = 2
        while !base.isIdle || !openWorks.isEmpty {
            if openWorks.isEmpty { base.step() } else { endOpen(0) }
        }
        compare()
        model.expect(model.pendingCount == 0 && model.runningCount == 0, "jobs are left")
        model.expect(model.ends.count == count, "\(count - model.ends.count) jobs were forgotten")
        for (number, work) in works { check(number, work.async.outcome) }
        for (number, times) in notified {
            model.expect(times == 1, "the callback of \(number) was called \(times) times")
        }
    }

    private func compare() {
        model.catchUp()
        model.expect(queue.pendingCount == model.pendingCount, "pending \(queue.pendingCount)")
        model.expect(queue.runningCount == model.runningCount, "running \(queue.runningCount)")
        for (number, work) in works.suffix(4) {
            model.expect(work.isPending == model.isPending(number), "isPending of \(number)")
        }
    }

    private func check(_ number: Int, _ outcome: Result<Int, any Error>?) {
        switch (model.ends[number], outcome) {
        case (.cancelled, .failure(is CancellationError)), (.dropped, .failure(is Refusal)): break
        // The `Async` was cancelled after the start, or by a deinit while the job was dropped.
        case (.ran, .failure(is CancellationError)), (.dropped, .failure(is CancellationError)):
            break
        case (.ran, .success(number)): break
        default:
            model.expect(
                false,
                "\(number) ended with \(String(describing: outcome)), not "
                    + String(describing: model.ends[number]))
        }
    }

    // MARK: What a program does

    private func act() {
        switch rng.next(below: 14) {
        case 0...5: submit()
        case 6 where !works.isEmpty:
            let (number, work) = works[rng.next(below: works.count)]
            let priority = anyPriority()
            model.setPriority(priority, of: number)
            work.priority = priority
        case 7 where !works.isEmpty:
            let (number, work) = works[max(works.count - 1 - rng.next(below: 8), 0)]
            let expected = model.cancel(number)
            model.expect(work.cancel() == expected, "cancel of \(number) was not \(expected)")
        case 8 where !works.isEmpty:
            let (number, work) = works[max(works.count - 1 - rng.next(below: 8), 0)]
            let async = work.async
            let isFirst = !async.isCompleted
            if isFirst { _ = model.cancel(number) }
            // The callbacks come before the queue knows of it.
            isQuiet = true
            model.expect(async.cancel() == isFirst, "the Async of \(number)")
            isQuiet = false
        case 9 where !works.isEmpty:
            let (number, work) = works[rng.next(below: works.count)]
            if notified[number] != nil { return }
            notified[number] = 0
            work.async.onComplete { [self] outcome in
                notified[number]! += 1
                nested()
            }
        case 10 where !openWorks.isEmpty: endOpen(rng.next(below: openWorks.count))
        case 11:
            let limit = rng.next(below: 5)
            model.setLimit(limit)
            queue.limit = limit
            model.catchUp()
        case 12:
            let isSuspended = rng.next(below: 3) == 0
            model.setSuspended(isSuspended)
            if isSuspended { queue.suspend() } else { queue.resume() }
            model.catchUp()
        default: submit()
        }
    }

    private func anyPriority() -> WorkPriority { WorkPriority(rawValue: rng.next(below: 5))! }

    private func submit() {
        let (number, priority) = (count, anyPriority())
        count += 1
        // The caller of `submit` keeps the closure until that returns. So its captures say when the
        // job has ended only if the job has to wait.
        let kind = rng.next(below: model.mustWait ? 4 : 2)
        model.submit(number, priority, isOpen: kind == 3)
        switch kind {
        case 0: queue.execute(priority: priority, job(number))
        case 1:
            queue.context(priority: priority).execute {
                self.body(number)
                self.model.returns(number)
            } refused: { _ in
                self.dropped(number)
            }
        case 2: works.append((number, queue.submit(priority: priority, answer(number))))
        default:
            works.append((number, queue.submitOpen(priority: priority, openBody(number))))
        }
    }

    // Functions of their own: the closures alone keep the captures.
    private func job(_ number: Int) -> Work {
        let capture = Capture(self, number)
        return { capture.begin() }
    }

    private func answer(_ number: Int) -> @Sendable () -> Int {
        let capture = Capture(self, number)
        return {
            capture.begin()
            return number
        }
    }

    private func openBody(_ number: Int) -> @Sendable (OpenWork<Int>) -> Void {
        let capture = Capture(self, number)
        return { open in
            self.openWorks.append((number, open))
            capture.begin()
        }
    }

    /// Ends open work, or drops it. Its job may have ended already.
    private func endOpen(_ index: Int) {
        let (number, work) = openWorks.remove(at: index)
        model.endOpen(number)
        work.succeed(number)
    }

    private func body(_ number: Int) {
        model.begin(number)
        nested()
    }

    private func dropped(_ number: Int) {
        model.drop(number)
        nested()
    }

    private func nested() {
        if isOver || isQuiet || depth == 4 { return }
        depth += 1
        for _ in 0..<rng.next(below: 3) { act() }
        depth -= 1
    }

    /// What a job captures: its deinit says that the job was dropped, unless it began.
    private final class Capture: @unchecked Sendable {
        // Unchecked: one thread uses it.
        private let play: QueuePlay
        private let number: Int
        private var hasBegun = false

        init(_ play: QueuePlay, _ number: Int) {
            self.play = play
            self.number = number
        }

        func begin() {
            hasBegun = true
            play.body(number)
        }

        deinit {
            if hasBegun {
                // The permit is free when the captures are.
                play.nested()
                play.model.returns(number)
            } else if play.model.ends[number] == .cancelled {
                // The caller has told the model of it.
                play.nested()
            } else {
                play.dropped(number)
            }
        }
    }
}
