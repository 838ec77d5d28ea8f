internal import ExecutionContexts
internal import Synchronization

/// The host threads of one search, and the progress that its caller sees.
final class HostThreads: @unchecked Sendable {
    // Unchecked: the owner of the scheduler token owns `hosts`; the rest is atomic or behind a
    // lock.

    /// The token by which the schedule returns to the thread of the search.
    let searchToken = SchedulerToken()
    private var hosts: [HostThread] = []
    private let processor: Int
    private let stepTotal = Atomic(0)
    private let current = Atomic(0)
    private let names = Locked<[String]>([])
    private let didReportForeignUse = Signal()
    private let foreignUses = Locked<[String]>([])

    private static let started = Atomic(0)

    init() { processor = Self.started.add(1, ordering: .relaxed).oldValue }

    /// Pins the calling thread to the processor of the host threads.
    func pin() { Processors.pin(processor) }

    /// The host of the simulated thread with this number: always the same, so that schedules are
    /// reproducible.
    func host(_ index: Int) -> HostThread {
        while hosts.count <= index { hosts.append(HostThread(processor: processor)) }
        return hosts[index]
    }

    /// Replaces the hosts of these threads, which never return.
    func replace(_ threads: [SimulatedThread]) {
        for thread in threads { hosts[thread.id] = HostThread(processor: processor) }
    }

    func dismiss() {
        for host in hosts {
            host.assign(nil, on: nil)
            host.schedulerToken.pass()
        }
        hosts = []
    }

    // MARK: Progress and foreign uses

    /// Counts a step. Relaxed, here and below: it is read seldom, and any recent value will do.
    func didStep() {
        stepTotal.store(stepTotal.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    func didSwitch(to thread: Int) { current.store(thread, ordering: .relaxed) }

    var stepCount: Int { stepTotal.load(ordering: .relaxed) }

    /// The number of the thread that ran last.
    var lastThread: Int { current.load(ordering: .relaxed) }

    /// The name of the thread with this number, in the latest schedule that had one.
    func name(of thread: Int) -> String {
        names.withLock { $0.indices.contains(thread) ? $0[thread] : "the body" }
    }

    func setName(of thread: Int, to name: String) {
        names.withLock { names in
            while names.count <= thread { names.append("") }
            names[thread] = name
        }
    }

    /// Records that a thread outside of the simulation has used a simulated object.
    func report(foreign message: String) {
        foreignUses.withLock { $0.append(message) }
        didReportForeignUse.happen()
    }

    func takeForeignUse() -> String? {
        foreignUses.withLock { foreignUses in
            defer { foreignUses = [] }
            return foreignUses.first
        }
    }

    /// Waits a moment for such a use that may be on its way; how long it takes is unknown.
    func awaitForeignUse() -> String? {
        _ = didReportForeignUse.wait(count: 1, atMost: .milliseconds(200))
        return takeForeignUse()
    }
}
