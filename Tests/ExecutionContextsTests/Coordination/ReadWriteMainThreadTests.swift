import Dispatch
import ExecutionContexts
import Foundation
import XCTest

/// Law 20 on the main thread, which only XCTest runs its tests on.
final class ReadWriteMainThreadTests: XCTestCase {
    override func setUp() { XCTAssertTrue(Thread.isMainThread) }

    /// Writes and reads back, in all ways, on the main thread and on others; says how often a write ran on main.
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
                    ? coordinator.read(timeout: 3_600) { room.read(me) } : coordinator.read { room.read(me) }
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

    func testLaw20OnASerialCarrierTheMainThreadWaitsAndDoesNotHelp() {
        XCTAssertEqual(writesOnMain(ReadWriteCoordinator(carrier: GlobalContext().serial())), 0)
    }

    func testLaw20TheMainThreadDoesNotHelpWhereTheCarrierLosesItsTurns() {
        XCTAssertEqual(writesOnMain(ReadWriteCoordinator(carrier: ClosureContext("drops") { _ in })), 0)
    }

    func testLaw20WhereMainIsTheCarrierItsReaderRunsTheWrites() {
        let coordinator = ReadWriteCoordinator(carrier: .main)
        let ran = Box<[Bool]>([])
        for round in 1...100 {
            coordinator.enqueueWrite { ran.withValue { $0.append(Thread.isMainThread) } }
            let count =
                round % 2 == 0
                ? coordinator.read { ran.value.count } : coordinator.read(timeout: .zero) { ran.value.count }
            XCTAssertEqual(count, round)
        }
        XCTAssertTrue(ran.value.allSatisfy { $0 })
    }

    func testLaw20WhereMainIsTheCarrierAnotherThreadWaitsForIt() {
        let coordinator = ReadWriteCoordinator(carrier: .main)
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
