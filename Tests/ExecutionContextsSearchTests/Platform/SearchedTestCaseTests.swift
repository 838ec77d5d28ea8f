#if !canImport(ObjectiveC)
import Dispatch
import ExecutionContextsSearch
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing
import XCTest

/// Tests of XCTest that are searched.
@Suite(.serialized, .patient, .systemIsSimulated)
struct SearchedTestCaseTests {
    private final class Probe: SearchedTestCase {
        /// Of the assertion about accounts.
        static let line = Box(0)
        private let account = Account()
        private let made = Box(0)
        override class var search: SearchSettings { SearchSettings(schedules: 200) }

        func overdraws() async { await withdraw(80) }
        func withdraws() async { await withdraw(10) }
        private func withdraw(_ amount: Int) async {
            let account = account
            async let first: Void = account.withdraw(amount)
            async let second: Void = account.withdraw(amount)
            _ = await (first, second)
            let balance = await account.balance
            Self.line.value = #line + 1
            XCTAssertGreaterThanOrEqual(balance, 0)
        }

        /// Jobs of a queue that may run at the same time, each with an expectation.
        func countsInJobs() {
            let (lock, count) = (NSLock(), Box(0))
            let ends = (0..<2).map { expectation(description: "\($0)") }
            for end in ends {
                DispatchQueue.global().async {
                    let before = lock.withLock { count.value }
                    lock.withLock { count.value = before + 1 }
                    end.fulfill()
                }
            }
            wait(for: ends, timeout: 60)
            XCTAssertEqual(count.value, 2)
        }

        func waitsInVain() {
            let never = expectation(description: "never")
            let other = expectation(description: "other")
            DispatchQueue.global().async { other.fulfill() }
            wait(for: [never, other], timeout: 3_000)
        }
        func neverEnds() async {
            await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
        func isFulfilled() async {
            let end = expectation(description: "end")
            Task { end.fulfill() }
            await fulfillment(of: [end], timeout: 60)
        }
        /// An expectation that is fulfilled after the limit.
        func isLate() {
            let end = expectation(description: "late")
            DispatchQueue.global().asyncAfter(deadline: .now() + 1.1) { end.fulfill() }
            wait(for: [end], timeout: 1)
        }
        func isInverted() {
            let end = expectation(description: "late")
            end.isInverted = true
            DispatchQueue.global().asyncAfter(deadline: .now() + 1.1) { end.fulfill() }
            wait(for: [end], timeout: 1)
        }
        func waitsForAll() {
            let end = expectation(description: "end")
            DispatchQueue.global().async { end.fulfill() }
            let wait: @MainActor (Probe) -> Void = { $0.waitForExpectations(timeout: 60) }
            // Unsafe: not on the main actor, as XCTest calls a test that is.
            unsafe unsafeBitCast(wait, to: ((Probe) -> Void).self)(self)
        }
        func isFirst() {
            made.value += 1
            XCTAssertEqual(made.value, 1)
        }
        func isSkipped() throws { throw XCTSkip("not here") }
        func throwsError() throws { throw CancellationError() }
    }

    /// Observes the failures that XCTest records.
    private final class Observer: XCTestObservation {
        let failures = Box<[(text: String, file: String?, line: Int)]>([])
        func testCase(
            _ testCase: XCTestCase, didFailWithDescription text: String, inFile file: String?,
            atLine line: Int
        ) {
            failures.withValue { $0.append((text, file, line)) }
        }
    }

    /// The failures of a test that XCTest runs.
    private func failures(_ body: @escaping (Probe) -> () throws -> Void) async -> [(
        text: String, file: String?, line: Int
    )] {
        // Unsafe in name only: the caller waits for the thread that uses it.
        nonisolated(unsafe) let body = body
        let failures = Box<[(text: String, file: String?, line: Int)]>([])
        await offThePool {
            let observer = Observer()
            XCTestObservationCenter.shared.addTestObserver(observer)
            let test = Probe(name: "probe") { try unsafe body($0 as! Probe)() }
            test.run()
            XCTestObservationCenter.shared.removeTestObserver(observer)
            failures.value = observer.failures.value
        }
        return failures.value
    }

    @Test func `a failure is recorded once, at its assertion, with the story`() async throws {
        let found = await failures(asyncTest(Probe.overdraws))
        #expect(found.count == 1, "\(found)")
        let failure = try #require(found.first)
        #expect(failure.text.contains("XCTAssertGreaterThanOrEqual failed"))
        #expect(failure.text.contains("Replay it with"))
        #expect(failure.file?.hasSuffix("SearchedTestCaseTests.swift") == true)
        #expect(failure.line == Probe.line.value)
        let none = await failures(asyncTest(Probe.withdraws))
        #expect(none.isEmpty, "\(none)")
    }

    @Test(.dispatchIsSimulated) func `jobs are searched that a test waits for by expectations`()
        async
    {
        let found = await failures(Probe.countsInJobs)
        #expect(found.count == 1 && found[0].text.contains("XCTAssertEqual failed"), "\(found)")
        let none = await failures(asyncTest(Probe.isFulfilled))
        #expect(none.isEmpty, "\(none)")
    }

    @Test(.dispatchIsSimulated) func `a time limit is in simulated time`() async {
        let found = await failures(Probe.waitsInVain)
        #expect(found.count == 1 && found[0].text.contains("Exceeded timeout"), "\(found)")
    }

    @Test(.dispatchIsSimulated) func `a wait ends at its limit, exactly`() async {
        let found = await failures(Probe.isLate)
        #expect(found.count == 1 && found[0].text.contains("Exceeded timeout"), "\(found)")
        let none = await failures(Probe.isInverted)
        #expect(none.isEmpty, "\(none)")
        let fulfilled = await failures(Probe.waitsForAll)
        #expect(fulfilled.isEmpty, "\(fulfilled)")
    }

    @Test func `a test that never ends is told`() async {
        let found = await failures(asyncTest(Probe.neverEnds))
        #expect(found.count == 1 && found[0].text.contains("an expectation of XCTest"), "\(found)")
    }

    @Test func `each schedule has an object of its own`() async {
        let found = await failures(Probe.isFirst)
        #expect(found.isEmpty, "\(found)")
    }

    @Test func `an error fails the test, a skip does not`() async {
        let found = await failures(Probe.throwsError)
        #expect(found.count == 1 && found[0].text.contains("CancellationError"), "\(found)")
        let none = await failures(Probe.isSkipped)
        #expect(none.isEmpty, "\(none)")
    }
}

/// Run by XCTest itself.
final class SearchedStreamTests: SearchedTestCase {
    func testSomeFiveAreCounted() async {
        let stream = AsyncStream { continuation in
            for number in 1...5 { continuation.yield(number) }
            continuation.finish()
        }
        async let numbers = stream.reduce(0) { count, _ in count + 1 }
        let count = await numbers
        XCTAssertEqual(count, 5)
    }
}
#endif
