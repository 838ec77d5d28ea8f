import ExecutionContextsTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A search whose success would mean nothing fails, and says why.
@Suite(.patient, .systemIsSimulated)
struct PlainVacuityTests {
    /// A class whose two sections are guarded by a lock that the search does not see while it is
    /// free.
    final class Unseen: Sendable {
        let balance = Mutex(100)

        func withdraw() {
            guard balance.withLock({ $0 }) >= 80 else { return }
            balance.withLock { $0 -= 80 }
        }
    }

    /// The same, with a lock of the system.
    final class Seen: @unchecked Sendable {
        // Unchecked: the lock guards it.
        private let lock = NSLock()
        private var balance = 100

        func deposit() { lock.withLock { balance += 80 } }
    }

    actor Counter {
        private(set) var count = 0
        func add() { count += 1 }
    }

    struct Program: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: String
        let run: @Sendable (SimulatedWorld) async -> Void
    }

    static let programs = [
        Program(testDescription: "one task", reason: "No two") { _ in
            await Counter().add()
        },
        Program(testDescription: "one task that yields", reason: "No two") { _ in
            for _ in 0..<3 { await Task.yield() }
        },
        Program(testDescription: "two tasks with a mutex", reason: "No thread or task") { _ in
            let account = Unseen()
            async let one: Void = account.withdraw()
            async let other: Void = account.withdraw()
            _ = await (one, other)
        },
        Program(testDescription: "a group with a mutex", reason: "No thread or task") { _ in
            let account = Unseen()
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { account.withdraw() } }
            }
        },
        Program(testDescription: "many tasks with a mutex", reason: "No thread or task") { _ in
            let account = Unseen()
            await withTaskGroup { group in
                for _ in 0..<90 { group.addTask { account.withdraw() } }
            }
        },
        Program(testDescription: "tasks that share nothing", reason: "No thread or task") { _ in
            async let one = 1
            async let other = 2
            _ = await (one, other)
        },
    ]

    @Test(arguments: programs) func `Law 33: a search that shows nothing fails, and says why`(
        _ program: Program
    ) async {
        for strategy in [SimulationStrategy.portfolio, .random, .exhaustive] {
            let name = program.testDescription
            let report = await search(name, schedules: 50, strategy: strategy, program.run)
            #expect(report.failure?.kind == .vacuous, "\(report)")
            #expect(report.failure?.happened.hasPrefix(program.reason) == true, "\(report)")
            let allowed = await search(
                name, schedules: 50, strategy: strategy, ignoring: [.vacuous], program.run)
            #expect(allowed.failure == nil, "\(allowed)")
        }
    }

    @Test func `Law 33: threads that share nothing are told as well`() async {
        let report = await search("threads") { sim in
            let account = Unseen()
            for number in 1...2 { sim.spawn("thread \(number)") { account.withdraw() } }
        }
        #expect(report.failure?.kind == .vacuous, "\(report)")
        #expect(report.failure?.happened.contains("a Mutex") == true, "\(report)")
    }

    static let shared = [
        Program(testDescription: "a lock of the system", reason: "") { _ in
            let account = Seen()
            async let one: Void = account.deposit()
            async let other: Void = account.deposit()
            _ = await (one, other)
        },
        Program(testDescription: "an actor", reason: "") { _ in
            let counter = Counter()
            async let one: Void = counter.add()
            async let other: Void = counter.add()
            _ = await (one, other)
        },
        Program(testDescription: "a stream", reason: "") { _ in
            let (stream, source) = AsyncStream.makeStream(of: Int.self)
            async let sum = stream.reduce(0, +)
            source.yield(1)
            source.finish()
            _ = await sum
        },
        Program(testDescription: "a continuation", reason: "") { _ in
            await withCheckedContinuation { waiter in Task { waiter.resume() } }
        },
        Program(testDescription: "a cancellation", reason: "") { _ in
            let sleeper = Task { try? await Task.sleep(for: .seconds(60)) }
            sleeper.cancel()
            await sleeper.value
        },
        Program(testDescription: "a sleep", reason: "") { _ in
            let account = Unseen()
            async let one: Void = account.withdraw()
            try? await Task.sleep(for: .seconds(1))
            account.withdraw()
            await one
        },
        Program(testDescription: "a yield", reason: "") { _ in
            let account = Unseen()
            async let one: Void = account.withdraw()
            await Task.yield()
            account.withdraw()
            await one
        },
        Program(testDescription: "a chance", reason: "") { sim in
            _ = sim.chance("it fails")
        },
    ]

    @Test(arguments: shared) func `Law 33: a search of what is shared, or of chances, passes`(
        _ program: Program
    ) async {
        let report = await search(program.testDescription, schedules: 50, program.run)
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a result names a mutex that several threads use`() {
        let report = search("contended", schedules: 50) { sim in
            let account = Unseen()
            for name in ["alice", "bob"] {
                sim.spawn(name) { account.balance.withLock { _ in sim.step() } }
            }
        }
        #expect(report.failure == nil, "\(report)")
        #expect("\(report)".contains("a Mutex from several threads"), "\(report)")
    }

    @Test func `Law 33: a search that shows nothing names a thread that the program starts`() async
    {
        let report = await search("own thread", schedules: 50) { _ in
            let thread = Thread {}
            thread.start()
        }
        #expect(report.failure?.kind == .vacuous, "\(report)")
        #expect(report.failure?.happened.contains("a thread of its own") == true, "\(report)")
    }

    @Test func `Law 33: a replay is of one schedule, and so is never vacuous`() async {
        let name = "a replay"
        let program: @Sendable (SimulatedWorld) async throws -> Void = { _ in
            throw CancellationError()
        }
        let token = await search(name, schedules: 1, program).failure?.token
        let report = await search(name, replay: token) { _ in }
        #expect(report.failure?.kind != .vacuous, "\(report)")
    }
}
