import ExecutionContexts
import ExecutionContextsWork

/// Law 35: never more bodies than permits, each call has one outcome, and no permit is lost.
@Sendable func attackSemaphore(_ draw: inout Draw) async -> Findings {
    var findings = Findings()
    let permits = 1 + draw.below(3)
    let semaphore = AsyncSemaphore(permits: permits)
    let inside = Shared((now: 0, most: 0))
    let body: @Sendable (inout Draw) async -> Void = { draw in
        inside.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        await draw.pause()
        inside.change { $0.now -= 1 }
    }
    let tasks = (0..<2 + draw.below(6)).map { _ in
        var draw = draw.split()
        return Task.detached {
            let count = 3 + draw.below(10)
            var wrong = 0
            for _ in 0..<count {
                let ran = Shared(false)
                let inner = draw.split()
                let work: @Sendable () async -> Void = {
                    ran.change { $0 = true }
                    var inner = inner
                    await body(&inner)
                }
                switch draw.below(4) {
                case 0:
                    let entered = await semaphore.withPermitIfAvailable(work) != nil
                    if entered != ran.value { wrong += 1 }
                case 1, 2:
                    let once = Task { try await semaphore.withPermit { await work() } }
                    await draw.pause()
                    once.cancel()
                    let returned = (try? await once.value) != nil
                    if returned != ran.value { wrong += 1 }
                default:
                    try? await semaphore.withPermit { await work() }
                    if !ran.value { wrong += 1 }
                }
            }
            return (count, wrong)
        }
    }
    for task in tasks {
        let (count, wrong) = await task.value
        findings.operations += count
        findings.check(wrong == 0, "\(wrong) calls had another outcome than their bodies")
    }
    findings.check(inside.value.most <= permits, "\(inside.value.most) inside of \(permits)")
    findings.check(semaphore.availableCount == permits, "a permit was lost")
    findings.check(semaphore.waitingCount == 0, "a waiter is left")
    return findings
}

/// Law 35: a lock keeps its bodies apart, whatever is cancelled.
@Sendable func attackLock(_ draw: inout Draw) async -> Findings {
    var findings = Findings()
    let lock = AsyncLock()
    let guarded = Unshared()
    let ran = Shared(0)
    let tasks = (0..<2 + draw.below(6)).map { _ in
        var draw = draw.split()
        return Task.detached {
            let count = 3 + draw.below(15)
            for _ in 0..<count {
                let body: @Sendable () -> Void = {
                    guarded.touch()
                    ran.change { $0 += 1 }
                }
                switch draw.below(4) {
                case 0: _ = await lock.withLockIfAvailable { body() }
                case 1:
                    let once = Task { try await lock.withLock { body() } }
                    await draw.pause()
                    once.cancel()
                    _ = try? await once.value
                default: try? await lock.withLock { body() }
                }
            }
            return count
        }
    }
    for task in tasks { findings.operations += await task.value }
    findings.check(guarded.overlapCount == 0, "two bodies at a time")
    findings.check(guarded.count == ran.value, "an entry was lost")
    findings.check(!lock.isLocked && lock.waitingCount == 0, "the lock is still held")
    return findings
}
