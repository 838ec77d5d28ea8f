/// The searches that run in this process, by their numbers: a task that a thread outside of them
/// resumes knows its search by number.
enum RunningSearches {
    private static let all = Locked<(last: UInt, running: [UInt: HostThreads])>((0, [:]))

    /// Registers a search; returns its number.
    static func add(_ hosts: HostThreads) -> UInt {
        all.withLock { all in
            all.last += 1
            all.running[all.last] = hosts
            return all.last
        }
    }

    static func remove(_ number: UInt) { all.withLock { $0.running[number] = nil } }

    /// Reports that a task has left its search. One whose search is over stays suspended.
    static func taskDidLeave(_ number: UInt, _ task: TaskJob) {
        guard let hosts = all.withLock({ $0.running[number] }) else { return }
        let place = CodeLocations.function(at: task.locations).map { " in \($0)" } ?? ""
        hosts.report(
            foreign:
                " that waits\(place) was resumed by a thread that the simulation does not control: a queue of the "
                + "system, a timer, the network or an executor of the program. Replace what resumes it with a test double (law 33).",
            resuming: task)
    }
}
