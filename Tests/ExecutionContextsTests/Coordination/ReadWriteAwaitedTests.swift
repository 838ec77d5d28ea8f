import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Reads and writes that a task awaits.
@Suite(.patient)
struct ReadWriteAwaitedTests {
    private struct Failure: Error {}

    /// A thread that stays inside a write, or a read, until `leave`.
    private struct Occupant {
        let isInside = DispatchSemaphore(value: 0)
        let mayLeave = DispatchSemaphore(value: 0)

        init(_ coordinator: ReadWriteCoordinator, reads: Bool = false) async {
            let (isInside, mayLeave) = (isInside, mayLeave)
            Thread.detachNewThread {
                let stay: @Sendable () -> Void = {
                    isInside.signal()
                    mayLeave.wait()
                }
                if reads { coordinator.read(stay) } else { coordinator.blockingWrite(stay) }
            }
            await offThePool { isInside.wait() }
        }

        func leave() { mayLeave.signal() }
    }

    @Test func `Law 17: awaited reads and writes return values and throw errors`() async throws {
        let coordinator = ReadWriteCoordinator()
        let value = Box(0)
        for round in 1...200 {
            #expect(try await coordinator.writeAsync { value.increment() } == round)
            #expect(try await coordinator.readAsync { value.value } == round)
            let nothing: Int? = try await coordinator.readAsync { nil }
            #expect(nothing == nil)
            await #expect(throws: Failure.self) {
                try await coordinator.readAsync { throw Failure() }
            }
            await #expect(throws: Failure.self) {
                try await coordinator.writeAsync { throw Failure() }
            }
        }
    }

    @Test func `Law 17: an awaited read runs beside a read, and a later one behind a write`()
        async throws
    {
        let coordinator = ReadWriteCoordinator()
        let reader = await Occupant(coordinator, reads: true)
        #expect(try await coordinator.readAsync { 1 } == 1)
        let value = Box(0)
        coordinator.enqueueWrite { value.value = 1 }
        async let later = coordinator.readAsync { value.value }
        #expect(value.value == 0)
        reader.leave()
        #expect(try await later == 1)
    }

    @Test func `Law 17: many awaited reads see the writes before them, and block no thread`()
        async throws
    {
        let writeContext = ManualContext()
        let coordinator = ReadWriteCoordinator(writesOn: writeContext)
        let value = Box(0)
        coordinator.enqueueWrite { value.value = 42 }
        let begun = Box(0)
        let all = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    begun.withValue { $0 += 1 }
                    return try? await coordinator.readAsync { value.value }
                }
            }
            // If the reads blocked their threads, not all of them would begin.
            while begun.value < 200 { await Task.yield() }
            writeContext.runReady()
            return await group.reduce(into: [Int?]()) { $0.append($1) }
        }
        #expect(all == Array(repeating: 42, count: 200))
    }

    @Test func `Law 13: a body cancelled before its start never runs and is freed at once`()
        async throws
    {
        let coordinator = ReadWriteCoordinator()
        let ran = Box(0)
        for isWrite in [false, true] {
            for isEarly in [false, true] {
                let occupant = await Occupant(coordinator)
                weak var capture: Box<Int>?
                let task: Task<Void, any Error>
                do {
                    let box = Box(0)
                    capture = box
                    task = Task {
                        if isEarly { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                        let body: @Sendable () -> Void = { [box] in
                            box.value += 1
                            ran.withValue { $0 += 1 }
                        }
                        if isWrite {
                            try await coordinator.writeAsync(body)
                        } else {
                            try await coordinator.readAsync(body)
                        }
                    }
                }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                while capture != nil { await Task.yield() }
                occupant.leave()
                try await coordinator.writeAsync {}
                try await coordinator.readAsync {}
            }
        }
        #expect(ran.value == 0)
    }

    @Test func `Law 17: tasks that await reads and writes lose no update and see their own writes`()
        async
    {
        let coordinator = ReadWriteCoordinator()
        let room = ReadWriteRoom(writers: 8)
        await withTaskGroup { group in
            for me in 0..<8 {
                group.addTask {
                    for round in 1...rounds(debug: 200, release: 5_000) {
                        if round % 3 == 0 {
                            coordinator.enqueueWrite { room.write(me) }
                        } else {
                            try? await coordinator.writeAsync { room.write(me) }
                        }
                        let seen = try? await coordinator.readAsync { room.read(me) }
                        room.expect(seen == round, "wrote \(round) and read \(seen ?? -1)")
                    }
                }
            }
        }
        #expect(room.fault == nil)
    }

    @Test func `Law 13: when cancelling races with the start, each task gets the correct outcome`()
        async
    {
        let coordinator = ReadWriteCoordinator()
        let ran = Box(0)
        var completed = 0
        for round in 0..<rounds(debug: 500, release: 20_000) {
            let task = Task {
                if round % 2 == 0 {
                    try await coordinator.writeAsync { ran.withValue { $0 += 1 } }
                } else {
                    try await coordinator.readAsync { ran.withValue { $0 += 1 } }
                }
            }
            if round % 4 < 2 { coordinator.enqueueWrite {} }
            task.cancel()
            if (try? await task.value) != nil { completed += 1 }
        }
        #expect(ran.value == completed)
    }
}
