import ExecutionContexts
import TestSupport
import Testing

/// How a worker divides its time, in virtual time: each queue that has jobs gets its share, however
/// long its jobs take.
@Suite(.patient)
struct TimeSharesTests {
    /// One worker over queues that hold jobs of random lengths.
    private struct Worker {
        var shares = TimeShares()
        var now: Int64 = 1_000_000_000
        var begun = 0
        /// The time that each queue has had, and its longest wait while it had jobs.
        private var used = [Int64](repeating: 0, count: 4)
        private var longestWait = [Int64](repeating: 0, count: 4)
        private var waitingSince = [Int64](repeating: -1, count: 4)

        func used(_ queue: TimeShares.Queue) -> Double { Double(used[Int(queue.rawValue)]) }

        /// Includes a wait that has not ended.
        func longestWait(_ queue: TimeShares.Queue) -> Int64 {
            let since = waitingSince[Int(queue.rawValue)]
            return max(longestWait[Int(queue.rawValue)], since < 0 ? 0 : now - since)
        }

        /// Runs one job of the chosen queue; the job takes `length` nanoseconds.
        mutating func run(_ waiting: TimeShares.Waiting, _ length: (TimeShares.Queue) -> Int64) {
            let queues = waiting.queues
            for queue in queues where waitingSince[Int(queue.rawValue)] < 0 {
                waitingSince[Int(queue.rawValue)] = now
            }
            let queue = shares.choose(at: now, begun: begun, from: waiting)
            if !queues.contains(queue) { Issue.record("A queue without jobs was chosen.") }
            let index = Int(queue.rawValue)
            longestWait[index] = longestWait(queue)
            waitingSince[index] = -1
            let length = length(queue)
            used[index] += length
            (now, begun) = (now + length, begun + 1)
        }
    }

    @Test(arguments: seeds(debug: 40, release: 1_000))
    func `No queue with jobs waits longer than its share allows, however long the jobs take`(
        _ seed: UInt64
    ) {
        var rng = SeededRNG(seed: seed)
        // For each queue, from twenty microseconds to fifteen milliseconds.
        let lengths = (0..<4).map { _ in
            [40_000, 200_000, 1_000_000, 10_000_000][rng.next(below: 4)]
        }
        let waiting = TimeShares.Waiting(
            own: rng.next(below: 2) == 0, outside: rng.next(below: 2) == 0,
            urgent: rng.next(below: 2) == 0,
            lowPriority: rng.next(below: 2) == 0)
        guard !waiting.queues.isEmpty else { return }
        var worker = Worker()
        while worker.now < 2_000_000_000 {
            worker.run(waiting) { queue in
                let length = lengths[Int(queue.rawValue)]
                return Int64(length / 2 + rng.next(below: length))
            }
        }
        let longest = waiting.queues.map { lengths[Int($0.rawValue)] * 3 / 2 }.max()!
        for queue in waiting.queues {
            let wait = worker.longestWait(queue)
            // The time in which its share makes up for the largest debt and two jobs.
            let most = (Double(TimeShares.quantum) + 2 * Double(longest)) / waiting.share(of: queue)
            #expect(
                Double(wait) < most,
                "\(queue) waited \(wait) ns among \(waiting), jobs of \(lengths)")
        }
    }

    @Test(arguments: [20_000, 100_000, 1_000_000, 5_000_000])
    func `Jobs from outside have two thirds of a worker's time beside its own`(_ length: Int64) {
        var worker = Worker()
        let waiting = TimeShares.Waiting(own: true, outside: true)
        while worker.now < 2_000_000_000 { worker.run(waiting) { _ in length } }
        let share = worker.used(.outside) / 1_000_000_000
        #expect(0.6 < share && share < 0.75)
        #expect(worker.longestWait(.outside) <= 2 * max(length, TimeShares.slice))
    }

    @Test func `A job from outside of the pool is next`() {
        var worker = Worker()
        for _ in 0..<100 {
            for _ in 0..<10 { worker.run(TimeShares.Waiting(own: true)) { _ in 1_000_000 } }
            worker.run(TimeShares.Waiting(own: true, outside: true)) { queue in
                #expect(queue == .outside)
                return 1_000_000
            }
        }
    }

    @Test(arguments: [50_000, 1_000_000, 10_000_000])
    func `Urgent jobs have four fifths of the time, and low-priority ones a ninth`(_ length: Int64)
    {
        var worker = Worker()
        let urgent = TimeShares.Waiting(own: true, urgent: true)
        while worker.now < 4_000_000_000 { worker.run(urgent) { _ in length } }
        let share = worker.used(.own) / 3_000_000_000
        #expect(0.15 < share && share < 0.25)

        worker = Worker()
        let lowPriority = TimeShares.Waiting(own: true, lowPriority: true)
        while worker.now < 4_000_000_000 { worker.run(lowPriority) { _ in length } }
        let rest = worker.used(.lowPriority) / 3_000_000_000
        #expect(0.05 < rest && rest < 0.2)
    }
}

extension TimeShares.Waiting {
    fileprivate var queues: [TimeShares.Queue] {
        (own ? [.own] : []) + (outside ? [.outside] : []) + (urgent ? [.urgent] : [])
            + (lowPriority ? [.lowPriority] : [])
    }

    /// The share of the time of one queue, beside the other queues that have jobs.
    fileprivate func share(of queue: TimeShares.Queue) -> Double {
        let isMedium = own || outside
        if queue == .lowPriority { return isMedium || urgent ? 1.0 / 9 : 1 }
        let all = lowPriority ? 8.0 / 9 : 1
        if queue == .urgent { return isMedium ? all * 4 / 5 : all }
        let medium = urgent ? all / 5 : all
        guard own && outside else { return medium }
        return queue == .outside ? medium * 2 / 3 : medium / 3
    }
}
