import ExecutionContexts
import ExecutionContextsTesting

let race = Chapter(name: "race", title: "A race: searched for, found, replayed, mended") {
    let report = await search("till") { sim in withdrawals(in: sim, isMended: false) }
    guard let failure = report.failure, let token = failure.token else { throw NothingFound() }
    say("two threads check, then withdraw 80 of 100: found", failure.kind.rawValue)
    say("number of the schedule, and of its switches", "\(failure.schedule), \(failure.switches)")
    for line in failure.trace { print(style.dim("       " + line)) }
    let again = await search("till", replay: token) { sim in withdrawals(in: sim, isMended: false) }
    say(
        "replayed by its token, \(token)",
        again.failure?.trace == failure.trace ? "the same, step by step" : "?")
    let mended = await search("till") { sim in withdrawals(in: sim, isMended: true) }
    say(
        "check and withdrawal in one access",
        mended.failure.map { "\($0)" } ?? "nothing in \(mended.schedules) schedules")
}

private struct NothingFound: Error {}

/// Two customers withdraw from one till, which must not be overdrawn.
private func withdrawals(in sim: SimulatedWorld, isMended: Bool) {
    let (section, till) = (CriticalSection(), Till())
    for name in ["alice", "bob"] {
        sim.spawn(name) {
            if isMended {
                section.execute { if till.balance >= 80 { till.balance -= 80 } }
            } else if section.execute({ till.balance >= 80 }) {
                section.execute { till.balance -= 80 }
            }
        }
    }
    sim.finally("the till is not overdrawn") { till.balance >= 0 }
}

/// Money, without synchronization of its own.
private final class Till: @unchecked Sendable {
    // Unchecked: it is used only inside the section, and by the check at the end.
    var balance = 100
}
