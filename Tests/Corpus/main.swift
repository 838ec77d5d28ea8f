import ExecutionContextsTesting
import SeededBugs
for bug in SeededBug.all {
    let r = (0..<20).map { bug.search(seed: UInt64($0)) }
    let m = bug.search(isMended: true, schedules: 500)
    let e = bug.search(schedules: 60_000, strategy: .exhaustive(switches: 4))
    print(bug.name, Set(r.map {$0.failure?.kind.rawValue ?? "NOT FOUND"}), r.map(\.schedules).sorted(), "switches", r.map { $0.failure?.switches ?? -1}, "least", e.failure?.switches ?? -1, e.schedules, "depth", bug.depth, m.failure.map { "TWIN FAILS \($0)" } ?? "")
}
