import ExecutionContextsTesting
import TestSupport
import Testing

/// A task that resumes, cancels, yields or finishes affects others, which may run before it
/// continues.
@Suite(.patient, .systemIsSimulated)
struct PlainTaskActTests {
    struct Act: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Runs the program with its fault, or mended; returns whether all went well.
        let run: @Sendable (_ isMended: Bool) async -> Bool
    }

    /// What one task writes and another one reads, without a lock: the search sees no access.
    final class Value: @unchecked Sendable {
        // Unchecked: the simulation runs one thread at a time.
        var number = 0
        /// Resumes the reader.
        var resume: (() -> Void)?

        /// Writes either before or after an act.
        func write(_ isMended: Bool, _ act: () -> Void) {
            if isMended { number = 1 }
            act()
            number = 1
        }
    }

    /// A reader that waits until it is resumed, and then must find what was written.
    static func resumes(
        _ name: String, _ wait: @escaping @Sendable (Value) async -> Void
    ) -> Act {
        Act(testDescription: name) { isMended in
            let value = Value()
            async let found = {
                await wait(value)
                return value.number
            }()
            while value.resume == nil { await Task.yield() }
            value.write(isMended) { value.resume!() }
            return await found == 1
        }
    }

    static let acts: [Act] =
        [
            resumes("a checked continuation") { value in
                await withCheckedContinuation { waiter in value.resume = { waiter.resume() } }
            },
            resumes("a checked continuation that throws") { value in
                try? await withCheckedThrowingContinuation { waiter in
                    value.resume = { waiter.resume(throwing: CancellationError()) }
                }
            },
            resumes("an unsafe continuation") { value in
                unsafe await withUnsafeContinuation { waiter in
                    value.resume = { unsafe waiter.resume() }
                }
            },
            resumes("an unsafe continuation that may throw") { value in
                unsafe try? await withUnsafeThrowingContinuation { waiter in
                    value.resume = { unsafe waiter.resume() }
                }
            },
            resumes("an unsafe continuation that throws") { value in
                unsafe try? await withUnsafeThrowingContinuation { waiter in
                    value.resume = { unsafe waiter.resume(throwing: CancellationError()) }
                }
            },
        ]
        + streams + cancellations

    static let streams: [Act] = [
        Act(testDescription: "a stream's element") { isMended in
            let (value, (stream, source)) = (Value(), AsyncStream.makeStream(of: Int.self))
            async let found = {
                for await _ in stream { return value.number }
                return 0
            }()
            async let _: Void = {
                value.write(isMended) { source.yield(5) }
            }()
            return await found == 1
        },
        Act(testDescription: "an empty element") { isMended in
            let (value, (stream, source)) = (Value(), AsyncStream.makeStream(of: Void.self))
            async let found = {
                for await _ in stream { return value.number }
                return 0
            }()
            async let _: Void = {
                value.write(isMended) { source.yield() }
            }()
            return await found == 1
        },
        Act(testDescription: "a stream's end") { isMended in
            let (value, (stream, source)) = (Value(), AsyncStream.makeStream(of: Int.self))
            async let found = {
                for await _ in stream {}
                return value.number
            }()
            async let _: Void = {
                value.write(isMended) { source.finish() }
            }()
            return await found == 1
        },
        Act(testDescription: "an element of a stream that throws") { isMended in
            let value = Value()
            let (stream, source) = AsyncThrowingStream.makeStream(of: String.self)
            async let found = {
                for try await text in stream where text == "five" { return value.number }
                return 0
            }()
            async let _: Void = {
                value.write(isMended) { source.yield("five") }
            }()
            return (try? await found) == 1
        },
        Act(testDescription: "the end of a stream that throws") { isMended in
            let value = Value()
            let (stream, source) = AsyncThrowingStream.makeStream(of: String.self)
            async let found = {
                do { for try await _ in stream {} } catch {}
                return value.number
            }()
            async let _: Void = {
                value.write(isMended) { source.finish(throwing: CancellationError()) }
            }()
            return await found == 1
        },
    ]

    static let cancellations: [Act] = [
        Act(testDescription: "a cancelled task") { isMended in
            let value = Value()
            let reader = Task {
                try? await Task.sleep(for: .seconds(60))
                return Task.isCancelled ? value.number : 1
            }
            let writer = Task { value.write(isMended) { reader.cancel() } }
            await writer.value
            return await reader.value == 1
        },
        Act(testDescription: "cancelled children") { isMended in
            let value = Value()
            return await withTaskGroup { group in
                group.addTask {
                    try? await Task.sleep(for: .seconds(60))
                    return Task.isCancelled ? value.number : 1
                }
                await Task.yield()
                value.write(isMended) { group.cancelAll() }
                return await group.next() == 1
            }
        },
        Act(testDescription: "the current task, with a child") { isMended in
            let value = Value()
            return await Task {
                async let child = {
                    try? await Task.sleep(for: .seconds(60))
                    return Task.isCancelled ? value.number : 1
                }()
                await Task.yield()
                value.write(isMended) {
                    unsafe withUnsafeCurrentTask { unsafe $0!.cancel() }
                }
                return await child == 1
            }.value
        },
    ]

    @Test(arguments: acts) func `Law 33: the end of each act is a scheduling point`(
        _ act: Act
    ) async {
        for seed in 0..<10 as Range<UInt64> {
            let report = await search(act.testDescription, schedules: 200, seed: seed) { _ in
                if await !act.run(false) { throw Unwritten() }
            }
            #expect(report.failure?.kind == .threw, "seed \(seed): \(report)")
        }
        let report = await search(act.testDescription, schedules: 500) { _ in
            if await !act.run(true) { throw Unwritten() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    struct Unwritten: Error {}

    /// Where a task is whose continuation is resumed again.
    enum Place: CaseIterable { case itWaits, itHasNotWaited, itWaitsElsewhere, itHasEnded }

    @Test(arguments: Place.allCases)
    func `Law 33: an unsafe continuation that is resumed twice is found`(_ place: Place) async {
        let report = await search("twice", schedules: 50) { _ in
            let value = Value()
            let reader = Task(name: "reader") {
                unsafe await withUnsafeContinuation { waiter in
                    value.resume = { unsafe waiter.resume() }
                    if place == .itHasNotWaited { for _ in 0..<2 { value.resume!() } }
                }
                if place == .itWaitsElsewhere { try? await Task.sleep(for: .seconds(60)) }
            }
            guard place != .itHasNotWaited else { return await reader.value }
            while value.resume == nil { await Task.yield() }
            value.resume!()
            if place == .itWaitsElsewhere { for _ in 0..<8 { await Task.yield() } }
            if place == .itHasEnded { await reader.value }
            value.resume!()
            await reader.value
        }
        let failure = report.failure
        #expect(failure?.kind == .resumedTwice, "\(report)")
        #expect(failure?.happened.contains("a continuation of 'reader'") == true, "\(report)")
        #expect(failure?.token != nil, "\(report)")
    }

    @Test func `Law 33: continuations that are made and resumed again and again are no fault`()
        async throws
    {
        try await simulate("in turn", schedules: 200) { _ in
            let (stream, source) = AsyncStream.makeStream(of: (@Sendable (Int) -> Void).self)
            async let _: Void = {
                for await resume in stream { resume(1) }
            }()
            var sum = 0
            for _ in 0..<5 {
                sum += unsafe await withUnsafeContinuation { waiter in
                    source.yield { unsafe waiter.resume(returning: $0) }
                }
            }
            // A task of the runtime's own, which may have the address of an earlier one.
            for _ in 0..<5 {
                sum += await Task { await withCheckedContinuation { $0.resume(returning: 1) } }
                    .value
            }
            source.finish()
            if sum != 10 { throw Unwritten() }
        }
    }

    @Test func `Law 33: the story says who is resumed, and by what`() async {
        let report = await search("the story", schedules: 200) { _ in
            let (stream, source) = AsyncStream.makeStream(of: Int.self)
            let value = Value()
            let reader = Task(name: "reader") {
                for await _ in stream { return value.number }
                return 1
            }
            let writer = Task(name: "writer") { value.write(false) { source.yield(5) } }
            await writer.value
            source.finish()
            if await reader.value != 1 { throw Unwritten() }
        }
        let story = report.failure?.trace.joined(separator: "\n") ?? ""
        #expect(story.contains("yields an element"), "\(report)")
        #expect(story.contains("'reader'"), "\(report)")
    }
}
