import ExecutionContexts
import ExecutionContextsWork

/// Law 32: a queue keeps its limit, and each job has one outcome, whatever changes meanwhile.
@Sendable func attackQueue(_ draw: inout Draw) async -> Findings {
    var findings = Findings()
    let alive = Shared(0)
    do {
        let most = 1 + draw.below(4)
        let queue =
            switch draw.below(4) {
            case 0: PrioritizedQueue(on: GlobalContext(), limit: most)
            case 1: PrioritizedQueue(on: WorkerPool(name: "base", width: 2), limit: most)
            case 2: PrioritizedQueue(on: GlobalContext().serial(), limit: most)
            default: PrioritizedQueue(on: GlobalContext().limited(to: 2), limit: most)
            }
        let inside = Shared((now: 0, most: 0))
        let callers = (0...draw.below(3)).map { _ in
            submit(to: queue, inside, alive, draw.split())
        }
        let changes = Task.detached { [draw = draw.split()] in
            var draw = draw
            for _ in 0..<draw.below(20) {
                switch draw.below(5) {
                case 0: queue.limit = draw.below(most + 1)
                case 1: queue.suspend()
                case 2: queue.resume()
                case 3: if draw.oneIn(4) { queue.cancelAll() }
                default: await draw.pause()
                }
            }
            queue.limit = most
            queue.resume()
        }
        await changes.value
        for caller in callers {
            let (count, wrong) = await caller.value
            findings.operations += count
            findings.check(wrong.isEmpty, wrong.joined(separator: ", "))
        }
        _ = try? await queue.drained().get()
        findings.check(inside.value.most <= most, "\(inside.value.most) jobs at a limit of \(most)")
        findings.check(queue.pendingCount == 0, "a job is left")
    }
    await until { alive.value == 0 }
    return findings
}

private func submit(
    to queue: PrioritizedQueue, _ inside: Shared<(now: Int, most: Int)>, _ alive: Shared<Int>,
    _ draw: Draw
) -> Task<(Int, [String]), Never> {
    var draw = draw
    return Task.detached {
        var wrong: [String] = []
        var jobs: [(work: QueuedWork<Int>, ran: Shared<Int>, number: Int)] = []
        let count = 5 + draw.below(20)
        for number in 0..<count {
            let captured = Counted(number, alive)
            let ran = Shared(0)
            let begin: @Sendable () -> Void = {
                ran.change { $0 += 1 }
                inside.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            }
            let end: @Sendable () -> Void = { inside.change { $0.now -= 1 } }
            let priority: WorkPriority = [.low, .medium, .high][draw.below(3)]
            if draw.oneIn(3) {
                let pauses = draw.split()
                jobs.append(
                    (
                        queue.submitTask(priority: priority) {
                            begin()
                            var pauses = pauses
                            await pauses.pause()
                            end()
                            return captured.number
                        }, ran, number
                    ))
            } else {
                jobs.append(
                    (
                        queue.submit(priority: priority) {
                            begin()
                            end()
                            return captured.number
                        }, ran, number
                    ))
            }
            if draw.oneIn(4) { jobs[draw.below(jobs.count)].work.cancel() }
            if draw.oneIn(4) { jobs[draw.below(jobs.count)].work.priority = .high }
            if draw.oneIn(6) { await draw.pause() }
        }
        for (work, ran, number) in jobs {
            let value = try? await work.async.get()
            if value != nil, value != number {
                wrong.append("job \(number) returned another value")
            }
            if value != nil, ran.value != 1 {
                wrong.append("a job with a value ran \(ran.value) times")
            }
            if ran.value > 1 { wrong.append("a job ran \(ran.value) times") }
        }
        return (count, wrong)
    }
}
