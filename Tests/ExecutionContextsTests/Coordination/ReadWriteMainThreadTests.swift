import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import XCTest

/// Law 20 on the main thread: only XCTest runs its tests there.
final class ReadWriteMainThreadTests: XCTestCase {
    override func setUp() { XCTAssertTrue(Thread.isMainThread) }

    /// Writes and reads back on the main thread and two others; returns how many writes ran there.
    private func writesOnMain(_ coordinator: ReadWriteCoordinator) -> Int {
        let room = ReadWriteRoom(writers: 3)
        let onMain = Box(0)
        let enqueue: @Sendable (Int) -> Void = { me in
            coordinator.enqueueWrite {
                if Thread.isMainThread { onMain.withValue { $0 += 1 } }
                room.write(me)
            }
        }
        let work: @Sendable (Int) -> Void = { me in
            for round in 1...rounds(debug: 400, release: 10_000) {
                enqueue(me)
                if round % 3 == 0 { _ = coordinator.blockingWrite { room.read(me) } }
                let seen =
                    round % 5 == 0
                    ? coordinator.read(timeout: Patience.event) { room.read(me) }
                    : coordinator.read { room.read(me) }
                room.expect(seen == round, "wrote \(round) and read \(seen ?? -1)")
            }
        }
        let others = DispatchGroup()
        for me in 1...2 {
            others.enter()
            Thread.detachNewThread {
                work(me)
                others.leave()
            }
        }
        work(0)
        others.wait()
        XCTAssertNil(room.fault)
        return onMain.value
    }

    func testLaw20OnThePoolTheMainThreadWaitsAndDoesNotHelp() {
        XCTAssertEqual(writesOnMain(ReadWriteCoordinator()), 0)
    }

    func testLaw20WhereMainIsNotSparedItRunsTheWritesThatItWaitsFor() {
        XCTAssertGreaterThan(writesOnMain(ReadWriteCoordinator(sparingMain: false)), 0)
    }

    func testLaw20OnASerialWriteContextMainDoesNotHelpThoughItIsNotSpared() {
        let coordinator = ReadWriteCoordinator(
            writesOn: GlobalContext().serial(), sparingMain: false)
        XCTAssertEqual(writesOnMain(coordinator), 0)
    }

    func testLaw20OnASerialWriteContextTheMainThreadWaitsAndDoesNotHelp() {
        XCTAssertEqual(writesOnMain(ReadWriteCoordinator(writesOn: GlobalContext().serial())), 0)
    }

    func testLaw20TheMainThreadDoesNotHelpIfTheWriteContextDropsItsDrains() {
        XCTAssertEqual(
            writesOnMain(ReadWriteCoordinator(writesOn: ClosureContext(name: "drops") { _ in })), 0)
    }

    func testLaw20WhereMainIsTheWriteContextItsReaderRunsTheWrites() {
        let coordinator = ReadWriteCoordinator(writesOn: .main)
        let ran = Box<[Bool]>([])
        for round in 1...100 {
            coordinator.enqueueWrite { ran.withValue { $0.append(Thread.isMainThread) } }
            let count =
                round % 2 == 0
                ? coordinator.read { ran.value.count }
                : coordinator.read(timeout: .zero) { ran.value.count }
            XCTAssertEqual(count, round)
        }
        XCTAssertTrue(ran.value.allSatisfy { $0 })
    }

    func testLaw20WhereMainIsTheWriteContextAnotherThreadWaitsForIt() {
        let coordinator = ReadWriteCoordinator(writesOn: .main)
        let ran = Box<[Bool]>([])
        let isOver = Box(false)
        Thread.detachNewThread {
            for round in 1...100 {
                coordinator.enqueueWrite { ran.withValue { $0.append(Thread.isMainThread) } }
                let count = coordinator.read { ran.value.count }
                if count != round { ran.withValue { $0.append(false) } }
            }
            DispatchQueue.main.async { isOver.value = true }
        }
        while !isOver.value { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
        XCTAssertEqual(ran.value, Array(repeating: true, count: 100))
    }
}
