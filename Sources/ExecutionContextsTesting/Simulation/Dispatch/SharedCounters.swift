internal import CSimulation
internal import ExecutionContexts

/// The semaphores and groups that simulated programs created, to detect threads outside of
/// simulations that use them.
enum SharedCounters {
    private struct Made {
        let name: String
        let hosts: HostThreads
    }

    private static let all = Locked<[Word: Made]>([:])
    /// A program that creates them endlessly has no limit on addresses.
    private static let most = 100_000

    static func add(_ word: Word, _ name: String, _ hosts: HostThreads) {
        all.withLock { all in
            if all.count < most || all[word] != nil { all[word] = Made(name: name, hosts: hosts) }
            ecs_watch_counters(true)
        }
    }

    /// Another object now has this address.
    static func forget(_ word: Word) {
        all.withLock { all in
            all[word] = nil
            ecs_watch_counters(!all.isEmpty)
        }
    }

    /// Forgets the objects of a search that is over.
    static func forget(all hosts: HostThreads) {
        all.withLock { all in
            all = all.filter { $0.value.hosts !== hosts }
            ecs_watch_counters(!all.isEmpty)
        }
    }

    /// Reports that a thread outside of its simulation uses a semaphore or a group.
    static func willUse(_ word: Word, _ use: ecs_use, besides own: HostThreads? = nil) {
        guard let made = all.withLock({ $0[word] }), made.hosts !== own else { return }
        let verb =
            switch use {
            case ecs_signal: "signalled"
            case ecs_enter: "entered"
            case ecs_submit: "given a job"
            default: "left"
            }
        made.hosts.report(
            foreign:
                "'\(made.name)' was \(verb) by a thread that the simulation does not control. Start threads with spawn, and use "
                + "contexts of the simulation: queues, timers and threads of the system run outside (law 33)."
        )
    }
}
