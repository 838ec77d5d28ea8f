import AsyncFunctions
import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import XCTest

/// Main under XCTest, which runs its tests on the main thread and its run loop while they wait.
final class MainRunLoopTests: XCTestCase {
    func testLaw4WhileXCTestWaitsMainIsTheMainThread() {
        let ran = expectation(description: "ran")
        ran.expectedFulfillmentCount = 3
        let note: @MainActor @Sendable () -> Void = {
            XCTAssertTrue(Thread.isMainThread)
            ran.fulfill()
        }
        mainThread(note)
        async { mainThread(note) }
        async(delay: 0.001) { mainThread(delay: 0.001, note) }
        wait(for: [ran], timeout: Patience.event / .seconds(1))
    }

    func testLaw4InAnAsyncTestOfXCTestMainIsTheMainThread() async {
        let isMainThread = await withCheckedContinuation { done in
            async { mainThread { done.resume(returning: Thread.isMainThread) } }
        }
        XCTAssertTrue(isMainThread)
    }

    func testLaw4AManualMainMayBeDrivenUnderASyncOfTheMainThread() {
        let context = ManualContext()
        let log = Log()
        withAsyncFunctions(on: context, main: context) { mainThread { log.add("ran") } }
        DispatchQueue(label: "another").sync { _ = context.runReady() }
        XCTAssertEqual(log.entries, ["ran"])
    }

    func testLaw12ARunLoopInsideTheScopeDoesNotPassTheSubstitutesOnToOthers() {
        let context = ManualContext()
        let ran = expectation(description: "ran")
        ran.expectedFulfillmentCount = 3
        // Not substituted; the run loop of the `wait` below runs it.
        mainThread { async { mainThread { ran.fulfill() } } }
        mainThread(delay: 0) { mainThread { ran.fulfill() } }
        mainThread(delay: .zero) { mainThread(delay: 0.001) { ran.fulfill() } }
        withAsyncFunctions(on: context, main: context) {
            wait(for: [ran], timeout: Patience.event / .seconds(1))
        }
        XCTAssertEqual(context.readyCount, 0)
        XCTAssertEqual(context.delayedCount, 0)
    }

    func testLaw12AnotherSubstitutionIsKeptByARunLoopInsideTheScope() {
        let inner = ManualContext()
        let outer = ManualContext()
        let ran = expectation(description: "ran")
        withAsyncFunctions(on: inner) {
            mainThread {
                async { ran.fulfill() }
                inner.runReady()
            }
        }
        withAsyncFunctions(on: outer, main: outer) {
            wait(for: [ran], timeout: Patience.event / .seconds(1))
        }
        XCTAssertEqual(outer.readyCount, 0)
    }
}
