import Dispatch
import ExecutionContexts

/// Laws 1, 2, 10: of a context that ends, each job runs or is refused, once, and one at a time.
@Sendable func attackEnding(_ draw: inout Draw) async -> Findings {
    var findings = Findings()
    let alive = Shared(0)
    do {
        let context =
            switch draw.below(4) {
            case 0: EndingSerialContext(on: SerialQueueContext(name: "base"))
            case 1: EndingSerialContext(on: WorkerPool(name: "base", width: 2))
            case 2: EndingSerialContext(on: GlobalContext().limited(to: 1))
            default: EndingSerialContext(on: GlobalContext())
            }
        let state = Unshared()
        let counts = Shared((ran: 0, refused: 0))
        let callers = (0...draw.below(3)).map { _ in
            submit(to: context, state, counts, alive, draw.split())
        }
        let ends = (0...draw.below(2)).map { _ in
            var draw = draw.split()
            return Task.detached {
                await draw.pause()
                let budget: Duration? =
                    draw.oneIn(2) ? nil : .microseconds([0, 1, 50, 500][draw.below(4)])
                return try await context.shutDown(within: budget).get()
            }
        }
        var submitted = 0
        for caller in callers { submitted += await caller.value }
        findings.operations += submitted
        var reports: [ShutdownReport] = []
        for end in ends { if let report = try? await end.value { reports.append(report) } }
        findings.check(reports.count == ends.count, "a shutdown has no report")
        findings.check(Set(reports).count <= 1, "two reports of one shutdown: \(reports)")
        // A job that runs on after its budget ends later.
        await until { counts.value.ran + counts.value.refused == submitted }
        let (ran, refused) = counts.value
        findings.check(ran + refused == submitted, "\(ran) + \(refused) of \(submitted) jobs ended")
        findings.check(state.overlapCount == 0, "two jobs at a time")
        findings.check(state.count == ran, "a job ran twice or not at all")
        if let report = reports.first {
            findings.check(report.droppedCount <= refused, "\(refused) refused, and \(report)")
        }
    }
    await until { alive.value == 0 }
    return findings
}

private func submit(
    to context: EndingSerialContext, _ state: Unshared,
    _ counts: Shared<(ran: Int, refused: Int)>, _ alive: Shared<Int>, _ draw: Draw
) -> Task<Int, Never> {
    var draw = draw
    return Task.detached {
        let count = 5 + draw.below(25)
        for number in 0..<count {
            let captured = Counted(number, alive)
            let job: Work = {
                state.touch()
                counts.change { $0.ran += 1 }
                withExtendedLifetime(captured) {}
            }
            let refused: @Sendable () -> Void = { counts.change { $0.refused += 1 } }
            switch draw.below(3) {
            case 0: context.execute(job, refused: { _ in refused() })
            case 1: context.submit(job).onComplete { if case .failure = $0 { refused() } }
            default: do { try await context.run(job) } catch { refused() }
            }
            if draw.oneIn(5) { await draw.pause() }
        }
        return count
    }
}
