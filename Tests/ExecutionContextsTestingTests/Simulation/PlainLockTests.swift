import ExecutionContextsTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Code with locks of the system, unchanged: taking a free one is a scheduling point.
@Suite(.patient, .systemIsSimulated)
struct PlainLockTests {
    @Test(arguments: LockProgram.all + LockProgram.apps)
    func `Law 33: each fault in code with plain locks is found from every seed`(
        _ program: LockProgram
    ) {
        for seed in seeds(debug: 4, release: 20) {
            let report = search(program.name, schedules: 200, seed: seed) { program.run($0, false) }
            #expect(report.failure?.kind == program.kind, "seed \(seed): \(report)")
        }
    }

    @Test(arguments: LockProgram.all + LockProgram.apps)
    func `Law 33: the mended code with plain locks is clean`(_ program: LockProgram) {
        let report = search(
            program.name, schedules: rounds(debug: 400, release: 10_000), ignoring: [.vacuous]
        ) {
            program.run($0, true)
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test(arguments: LockProgram.all)
    func `Law 33: all orders of plain locks have the fault, and none of the mended code`(
        _ program: LockProgram
    ) {
        let failed = search(program.name, schedules: 5_000, strategy: .exhaustive) {
            program.run($0, false)
        }
        #expect(failed.failure?.kind == program.kind, "\(failed)")
        let report = search(
            program.name, schedules: 5_000, strategy: .exhaustive, ignoring: [.vacuous]
        ) {
            program.run($0, true)
        }
        #expect(report.failure == nil, "\(report)")
        // The mended program may not use what its fault is about.
        if !program.isCut { #expect(report.isComplete, "\(report)") }
    }

    @Test(arguments: [SimulationStrategy.portfolio, .exhaustive])
    func `Law 33: locks that are taken again, or only tried, are in no opposite order`(
        strategy: SimulationStrategy
    ) {
        let report = search("again", schedules: 2_000, strategy: strategy) { sim in
            let (list, entry) = (NSRecursiveLock(), NSLock())
            sim.spawn("adds") { list.withLock { entry.withLock { list.withLock {} } } }
            sim.spawn("reads") { list.withLock { entry.withLock {} } }
            let (left, right) = (NSLock(), NSLock())
            sim.spawn("left first") { left.withLock { if right.try() { right.unlock() } } }
            sim.spawn("right first") { right.withLock { left.withLock {} } }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: opposite orders that a mutex keeps apart are no failure`() {
        let report = search("kept apart", schedules: 300) { sim in
            let (outer, left, right) = (KeptApart(), NSLock(), NSLock())
            sim.spawn("left first") {
                outer.mutex.withLock { _ in left.withLock { right.withLock {} } }
            }
            sim.spawn("right first") {
                outer.mutex.withLock { _ in right.withLock { left.withLock {} } }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    private final class KeptApart: Sendable { let mutex = Mutex(()) }

    private static let shared: [(any NSLocking & Sendable, any NSLocking & Sendable)] = [
        (NSLock(), NSLock()), (NSRecursiveLock(), NSRecursiveLock()), (NSRecursiveLock(), NSLock()),
    ]

    @Test(arguments: shared.indices)
    func `Law 33: a deadlock of locks that outlive the schedule is told, and replays`(index: Int) {
        let program: @Sendable (SimulatedWorld) -> Void = { sim in
            let (left, right) = Self.shared[index]
            sim.spawn("left first") {
                left.lock()
                if left is NSRecursiveLock { left.lock() }
                right.withLock {}
                if left is NSRecursiveLock { left.unlock() }
                left.unlock()
            }
            sim.spawn("right first") { right.withLock { left.withLock {} } }
        }
        let failure = search("shared locks", program).failure
        #expect(failure?.kind == .deadlock, "\(String(describing: failure))")
        let replayed = search("shared locks", replay: failure?.token, program).failure
        #expect(replayed?.happened == failure?.happened)
    }

    @Test func `Law 33: a thread that takes its lock again waits for itself, and others for it`() {
        let happened = search("again") { sim in
            let lock = NSLock()
            sim.spawn("other") { lock.withLock {} }
            sim.spawn("nested") { lock.withLock { lock.withLock {} } }
        }.failure?.happened
        #expect(
            happened?.hasPrefix("'nested' waits for itself for ever: 'nested' waits for 'a lock'")
                == true,
            "\(String(describing: happened))")
    }

    @Test func `Law 33: a lock that a thread has left taken is told, with that thread`() {
        let failure = search("left taken") { sim in
            let lock = NSLock()
            sim.spawn("forgets") { lock.lock() }
            sim.spawn("waits") { lock.withLock {} }
        }.failure
        #expect(failure?.happened.contains("which 'forgets' holds") == true, "\(failure!)")
    }

    @Test func `Law 33: a lock at the address of one that is gone is another lock`() {
        let report = search("gone", schedules: 500) { sim in
            let registry = NSLock()
            sim.spawn("requests") {
                for isFirst in [true, false] {
                    let request = NSLock()
                    let (outer, inner) = isFirst ? (registry, request) : (request, registry)
                    outer.withLock { inner.withLock {} }
                }
            }
            sim.spawn("others") {
                let request = NSLock()
                request.withLock { registry.withLock {} }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: the failure of plain locks replays, and its story names them`() throws {
        let program = try #require(LockProgram.all.first { $0.name == "opposite order" })
        let failure = try #require(search(program.name) { program.run($0, false) }.failure)
        #expect(failure.happened.contains("'a lock'"), "\(failure)")
        #expect(failure.happened.contains("'a lock 2'"), "\(failure)")
        let replayed = search(program.name, replay: failure.token) {
            program.run($0, false)
        }
        #expect(replayed.failure?.happened == failure.happened)
    }
}
