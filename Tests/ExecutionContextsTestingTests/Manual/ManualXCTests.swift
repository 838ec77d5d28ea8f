import ExecutionContexts
import ExecutionContextsTesting
import XCTest

/// Manual contexts under XCTest, whose tests run on the main thread.
final class ManualXCTests: XCTestCase {
    private let context = ManualContext()

    override func tearDownWithError() throws { try context.finish() }

    func testAsyncCodeIsDrivenOnTheMainThread() throws {
        let context = context
        let isMain = try context.drive {
            try await context.clock.sleep(for: .seconds(60))
            return isMainThread()
        }
        XCTAssertEqual(isMain, isMainThread())
        XCTAssertEqual(context.now, ContextInstant(nanoseconds: 60_000_000_000))
    }

    func testTheMainActorIsReportedInsteadOfHanging() throws {
        let context = context
        XCTAssertThrowsError(try context.drive { await MainActor.run {} }) { error in
            XCTAssertEqual((error as? ManualFailure)?.reason, .stuck)
        }
    }

    func testTheMainActorIsWaitedFor() async throws {
        let context = context
        let value = try await context.driveAsync { await MainActor.run { 42 } }
        XCTAssertEqual(value, 42)
    }

    func testAFailingContextReportsWithItsName() {
        let reports = Log()
        let context = FailingContext(name: "disk") { message in
            XCTAssertTrue(message.contains("'disk', which this test declares unused"), message)
            reports.add(1)
        }
        context.execute {}
        XCTAssertEqual(reports.entries, [1])
    }

    func testPendingWorkIsAnErrorOfTheTest() {
        let context = ManualContext()
        context.schedule(after: .seconds(1)) {}
        XCTAssertThrowsError(try context.finish()) { error in
            XCTAssertTrue("\(error)".contains("ManualXCTests.swift"), "\(error)")
        }
    }
}

// A function of its own: the compiler forbids `Thread.isMainThread` in async code.
private func isMainThread() -> Bool { Thread.isMainThread }
