import Dispatch
import ExecutionContexts
import Synchronization
import TestSupport
import Testing

/// Random programs on random pools: each accepted job runs once, no pool ever exceeds its width by
/// more than its present `statistics.substitutes`, and every program ends.
///
/// Each job of a program computes, submits jobs to any of the pools, with any priority or after a
/// delay, and waits for some of them, by the library's means or its own. It waits only for jobs
/// that it submitted itself, so that a program ends unless a pool forgets a job. A pool may be shut
/// down in the middle.
@Suite(.patient)
struct PoolAdversaryTests {
    @Test(arguments: seeds(debug: 12, release: 200))
    func `Laws 1, 11, 20: a random program on random pools ends, and keeps the laws`(_ seed: UInt64)
        async
    {
        await watched { RandomPools(seed: seed).run() }
    }
}

private final class RandomPools: Sendable {
    /// The jobs that one pool was given and has run. Relaxed, all: figures, read after the end.
    final class Subject: Sendable {
        let pool: WorkerPool
        let width: Int
        let begun = Atomic<Int>(0)
        let accepted = Atomic<Int>(0)
        let refused = Atomic<Int>(0)
        let jobs: JobsUnderWay

        init(_ rng: inout SeededRNG) {
            width = rng.next(below: 3) + 1
            // Enough threads for all jobs that may wait at a time.
            pool = WorkerPool(width: width, limit: 256)
            jobs = JobsUnderWay(on: pool)
        }
    }

    private let subjects: [Subject]
    private let seed: UInt64
    /// Whether jobs wait by means that the library does not know of.
    private let waitsByOwnMeans: Bool
    private let shutsDown: Bool
    private let faults = Box<[String]>([])

    init(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        subjects = (0..<(rng.next(below: 3) + 1)).map { _ in Subject(&rng) }
        waitsByOwnMeans = rng.next(below: 2) == 0
        shutsDown = rng.next(below: 3) == 0
        self.seed = seed
    }

    func run() {
        var rng = SeededRNG(seed: seed &+ 1_000)
        for number in 0..<12 {
            let subject = subjects[number % subjects.count]
            _ = submit(depth: 3, seed: UInt64(rng.next(below: 1_000_000)), to: subject, &rng)
            if shutsDown, number == 8 { subjects[0].pool.shutDown() }
        }
        // A job of one pool may submit jobs to a pool that was already drained. If all accepted
        // jobs had begun before the pools were drained, and none was accepted since, none is left
        // that could submit another.
        var before = -1
        repeat {
            waitUntil { self.begun == self.accepted }
            before = accepted
            // Draining never fails.
            for subject in subjects { try! subject.pool.drained().wait() }
        } while accepted != before
        for subject in subjects {
            let statistics = subject.pool.statistics
            #expect(statistics.pending == 0, "seed \(seed)")
            #expect(statistics.begun == subject.accepted.load(ordering: .relaxed), "seed \(seed)")
            #expect(statistics.substitutes == 0, "seed \(seed)")
            if statistics.begun > 0 { subject.jobs.expectNoExcess("seed \(seed)") }
        }
        #expect(faults.value.isEmpty, "seed \(seed)")
    }

    private var begun: Int { subjects.reduce(0) { $0 + $1.begun.load(ordering: .relaxed) } }
    private var accepted: Int { subjects.reduce(0) { $0 + $1.accepted.load(ordering: .relaxed) } }

    /// Submits a job in some way. Returns a future of its end, or nil if the job was refused.
    private func submit(
        depth: Int, seed: UInt64, to subject: Subject, _ rng: inout SeededRNG
    ) -> Async<Void>? {
        let (promise, hasRun) = (Promise<Void>(), Box(false))
        let job: @Sendable () -> Void = { [self] in
            subject.begun.add(1, ordering: .relaxed)
            if hasRun.value { faults.withValue { $0.append("a job ran twice") } }
            hasRun.value = true
            subject.jobs.enter()
            perform(depth: depth, seed: seed, on: subject)
            subject.jobs.leave()
            promise.succeed(())
        }
        let priority = WorkPriority.allCases[rng.next(below: 5)]
        let pool = subject.pool.prioritized(priority)
        // Counted before the job can run, because a job that has ended counts as accepted.
        subject.accepted.add(1, ordering: .relaxed)
        if rng.next(below: 8) == 0 {
            pool.schedule(after: .microseconds(rng.next(below: 2_000))) { job() }
            return promise.async
        }
        do throws(Refusal) {
            try pool.tryExecute(job)
            return promise.async
        } catch {
            subject.accepted.subtract(1, ordering: .relaxed)
            subject.refused.add(1, ordering: .relaxed)
            if !shutsDown { faults.withValue { $0.append("refused: \(error)") } }
            return nil
        }
    }

    private func perform(depth: Int, seed: UInt64, on subject: Subject) {
        var rng = SeededRNG(seed: seed)
        subject.jobs.compute()
        guard depth > 0 else { return }
        for _ in 0..<rng.next(below: 4) {
            let other = subjects[rng.next(below: subjects.count)]
            guard
                let child = submit(
                    depth: depth - 1, seed: UInt64(rng.next(below: 1_000_000)), to: other, &rng)
            else { continue }
            switch rng.next(below: 4) {
            case 0: break
            case 1 where waitsByOwnMeans:
                let end = DispatchSemaphore(value: 0)
                child.onComplete { _ in end.signal() }
                end.wait()
            case 2:
                let end = DispatchSemaphore(value: 0)
                child.onComplete { _ in end.signal() }
                subject.jobs.waiting { WorkerPool.blocking { end.wait() } }
            default: subject.jobs.waiting { try? child.wait() }
            }
            subject.jobs.compute()
        }
    }
}
