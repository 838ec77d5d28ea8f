import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The time of plain Swift concurrency in a simulation.
@Suite(.patient)
struct PlainTaskTimeTests {
    private struct Wrong: Error {}

    private actor Log {
        var all: [Int] = []
        func add(_ number: Int) { all.append(number) }
    }

    @Test func `Law 33: sleeps end in the order of their deadlines`() async {
        await expectNoFailure("deadlines") { _ in
            let log = Log()
            await withTaskGroup { group in
                for number in [3, 1, 2] {
                    group.addTask {
                        try? await Task.sleep(for: .seconds(number))
                        await log.add(number)
                    }
                }
            }
            if await log.all != [1, 2, 3] { throw Wrong() }
        }
    }

    @Test func `Law 33: clocks show the simulated time`() async {
        await expectNoFailure("clocks", schedules: 50) { _ in
            let (start, date) = (ContinuousClock.now, Date())
            try await ContinuousClock().sleep(until: start + .seconds(90))
            if ContinuousClock.now - start != .seconds(90) { throw Wrong() }
            if Date().timeIntervalSince(date) != 90 { throw Wrong() }
            try await Task.sleep(until: .now + .seconds(10), clock: .suspending)
            if ContinuousClock.now - start != .seconds(100) { throw Wrong() }
        }
    }

    /// Real time may be used for the first time in a simulation, and then serves all.
    @Test func `Law 33: the time source of the system and Dispatch's clock stay real`() async {
        let before = (SystemTime.shared.now, DispatchTime.now())
        await expectNoFailure("real clocks", schedules: 50) { _ in
            let (time, dispatch) = (SystemTime.shared.now, DispatchTime.now())
            try await Task.sleep(for: .seconds(3600))
            if time < before.0 || SystemTime.shared.now > time.advanced(by: .seconds(1800)) {
                throw Wrong()
            }
            if dispatch < before.1 || DispatchTime.now() > dispatch + 1800 { throw Wrong() }
        }
    }

    private static func block(for seconds: UInt32) {
        Thread.sleep(forTimeInterval: Double(seconds) - 0.5)
        usleep(500_000)
        sleep(1)
    }

    @Test func `Law 33: a job that blocks its thread for a time sleeps in simulated time`() async {
        let report = await search("blocking sleep", schedules: 50) { sim in
            let start = ContinuousClock.now
            let slow = Task { Self.block(for: 600) }
            await Task.yield()
            Self.block(for: 1)
            await slow.value
            if ContinuousClock.now - start < .seconds(600) { throw Wrong() }
            if ContinuousClock.now - start > .seconds(605) { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(report.missedChanges == 0)
    }

    @Test func `Law 33: sleeps that end together may go on in any order`() async {
        let log = Locked<Set<[Int]>>([])
        let report = await search("together", schedules: 200) { _ in
            let order = Log()
            await withTaskGroup { group in
                for number in 0..<2 {
                    group.addTask {
                        try? await Task.sleep(for: .seconds(5))
                        await order.add(number)
                        await Task.yield()
                        await order.add(number)
                    }
                }
            }
            let found = await order.all
            log.withLock { _ = $0.insert(found) }
        }
        #expect(report.failure == nil, "\(report)")
        // Both first, and one beside the other.
        #expect(
            log.withLock { $0 }.isSuperset(of: [
                [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [1, 0, 0, 1],
            ]))
    }
    @Test func `Law 33: a loop that yields until a clock shows a time ends`() async {
        await expectNoFailure("poll", schedules: rounds(debug: 5, release: 20)) { _ in
            let end = ContinuousClock.now + .seconds(5)
            while ContinuousClock.now < end { await Task.yield() }
        }
    }

    @Test func `Law 33: time stands still while a crowd of tasks yields`() async throws {
        let passed = try await withDeterministicTasks {
            let start = ContinuousClock.now
            await withTaskGroup { group in
                for _ in 0..<3_000 { group.addTask { for _ in 0..<4 { await Task.yield() } } }
            }
            return start.duration(to: .now)
        }
        #expect(passed == .zero)
    }

    @Test func `Law 33: a loop that waits by a clock ends`() async {
        await expectNoFailure("busy", schedules: 20) { _ in
            let end = ContinuousClock.now + .milliseconds(200)
            while ContinuousClock.now < end {}
        }
    }
}
