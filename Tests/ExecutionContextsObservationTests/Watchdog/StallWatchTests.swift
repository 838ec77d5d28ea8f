import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Testing

/// The alarm that all jobs of a watched view share, against a model and under every schedule.
struct StallWatchTests {
    private enum Phase { case waiting, running, over }

    private struct Job {
        var phase = Phase.waiting
        var since: ContextInstant
        /// Whether no report of it is to come in this phase.
        var isSettled = false
    }

    /// Runs its jobs one after the other, each where `step` is called: there a reporter may run.
    private struct ByHand: ExecutionContext {
        let time: any TimeSource
        let jobs = Box<[Work]>([])

        func execute(_ work: consuming @escaping Work) {
            let work = work
            jobs.withValue { $0.append(work) }
        }

        @discardableResult
        func step() -> Bool {
            let job = jobs.withValue { $0.isEmpty ? nil : $0.removeFirst() }
            job?()
            return job != nil
        }
    }

    /// The same, as a context that says that one job runs at a time.
    private struct SerialByHand: ContextDecorator, SerialContext { let base: ByHand }

    /// A watched context, and what should have been reported.
    private final class Model: Sendable {
        let time = ManualTime()
        let base: ByHand
        let reporter: ManualContext
        let limit = Duration.seconds(10)
        let isSerial: Bool
        let jobs = Box<[Job]>([])
        let stalls = Box<[StalledJob]>([])
        let expected = Box<[String]>([])
        let random: Box<SeededRNG>

        init(seed: UInt64) {
            reporter = ManualContext(name: "reporter", time: time)
            base = ByHand(time: reporter.time)
            var random = SeededRNG(seed: seed)
            isSerial = random.next(below: 2) == 0
            self.random = Box(random)
        }

        func view() -> any ExecutionContext {
            let note: @Sendable (StalledJob) -> Void = { [stalls] stall in
                stalls.withValue { $0.append(stall) }
            }
            if isSerial {
                return SerialByHand(base: base).watched(limit: limit, on: reporter, report: note)
            }
            return base.watched(limit: limit, on: reporter, report: note)
        }

        func below(_ limit: Int) -> Int { random.withValue { $0.next(below: limit) } }

        /// Lets the reports come that are due, and checks them.
        func report() {
            jobs.withValue { jobs in expected.withValue { $0 += settle(&jobs) } }
            reporter.runReady()
            #expect(
                stalls.value.map { stall in
                    let front = stall.front.map { "\($0.job) for \($0.lasted)" } ?? "none"
                    return "\(stall.job) \(stall.phase), front \(front), \(stall.waiting) wait"
                } == expected.value)
        }

        /// Settles the jobs whose limit has passed, and returns the reports.
        private func settle(_ jobs: inout [Job]) -> [String] {
            let now = time.now
            func all(_ phase: Phase) -> [Int] { jobs.indices.filter { jobs[$0].phase == phase } }
            func due(_ phase: Phase) -> [Int] {
                all(phase).filter {
                    !jobs[$0].isSettled && jobs[$0].since.advanced(by: limit) <= now
                }
            }
            var reports: [String] = []
            for index in due(.running) {
                jobs[index].isSettled = true
                reports.append("\(index + 1) running, front none, \(all(.waiting).count) wait")
            }
            for index in due(.waiting) {
                let isKnown =
                    all(.waiting).contains { jobs[$0].isSettled }
                    || isSerial && all(.running).contains { jobs[$0].isSettled }
                jobs[index].isSettled = true
                if isKnown { continue }
                var words = "none"
                // One job runs at a time.
                if let front = all(.running).first {
                    let ran = jobs[front].since.duration(to: now)
                    words = "\(front + 1) for \(ran)"
                    if isSerial && ran >= limit / 2 { jobs[front].isSettled = true }
                }
                reports.append(
                    "\(index + 1) waiting, front \(words), \(all(.waiting).count) wait")
            }
            return reports
        }

        func change(_ index: Int, _ phase: Phase) {
            jobs.withValue {
                $0[index].phase = phase
                $0[index].since = time.now
                $0[index].isSettled = false
            }
        }

        func pass() { time.stall(for: .seconds(below(12))) }
    }

    @Test(arguments: 0..<50)
    func `Each cause is reported once, with the job in front and how many wait`(seed: Int) throws {
        let model = Model(seed: UInt64(seed))
        let view = model.view()
        for _ in 0..<60 {
            switch model.below(4) {
            case 0, 1:
                let index = model.jobs.withValue { jobs in
                    jobs.append(Job(since: model.time.now))
                    return jobs.count - 1
                }
                view.execute {
                    model.change(index, .running)
                    for _ in 0..<model.below(3) {
                        model.pass()
                        model.report()
                    }
                    model.change(index, .over)
                }
            case 2: model.base.step()
            default: model.pass()
            }
            if model.below(2) == 0 { model.report() }
        }
        while model.base.step() {}
        model.report()
        // Nothing is left behind: no alarm without a job.
        #expect(model.time.pending.isEmpty)
        try model.reporter.finish()
    }

    @Test func `In system time the alarm keeps nothing of a view that is gone`() {
        final class Token: Sendable {}
        weak var weakToken: Token?
        do {
            let token = Token()
            weakToken = token
            let view = ImmediateContext().watched(limit: .seconds(3600)) { [token] _ in _ = token }
            for _ in 0..<10 { view.execute {} }
            #expect(weakToken != nil)
        }
        #expect(weakToken == nil)
    }

    @Test func `A job that outlives its view is watched to its end`() {
        let time = ManualTime()
        let base = ManualContext(time: time)
        let stalls = Box(0)
        do {
            let view = base.watched(limit: .seconds(1), on: base) { _ in
                stalls.withValue { $0 += 1 }
            }
            view.execute {}
            view.execute {}
        }
        time.stall(for: .seconds(1))
        // The two jobs first, which then are reported no more.
        base.runReady()
        #expect(stalls.value == 0)
        #expect(time.pending.isEmpty)
    }

    @Test func `Under every schedule no alarm is lost, and none outlasts the jobs`() async {
        await underEverySchedule("watched", schedules: 300) { sim, onlooker in
            let stalls = Box(0)
            let reporter = sim.serial(named: "reporter")
            let base = sim.serial(named: "base")
            let view = base.watched(limit: .seconds(1), on: reporter) { _ in
                stalls.withValue { $0 += 1 }
            }
            let gate = Promise<Void>()
            reporter.schedule(after: .seconds(5)) { gate.succeed(()) }
            sim.spawn("a") {
                view.execute { try? gate.async.wait() }
                view.execute {}
            }
            sim.spawn("b") {
                view.execute {}
            }
            // Time passes only while nothing else can run: the job of `b` has then ended, or is
            // stuck behind the first of `a`, which is the one cause.
            sim.finally("what was stuck was reported once") { stalls.value == 1 }
        }
    }

    @Test func `No alarm is lost where time passes at any moment`() async {
        await underEverySchedule("late", schedules: 400, time: .racing) { sim, _ in
            let gate = Promise<Void>()
            let base = sim.serial(named: "base")
            let reporter = sim.serial(named: "reporter")
            let view = base.watched(limit: .seconds(1), on: reporter) { stall in
                if stall.job == 2 { gate.succeed(()) }
            }
            sim.spawn("a") {
                // Its alarm may fire on the reporter while this thread is still storing it.
                view.execute {}
                // Without a report this one would never end.
                reporter.schedule(after: .seconds(10)) { view.execute { try? gate.async.wait() } }
            }
        }
    }
}
