import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// What the story of a failure says of tasks: who has started, resumed or cancelled whom, and where
/// each one waits.
@Suite(.patient, .systemIsSimulated)
struct PlainTaskStoryTests {
    struct Found: Error {}

    /// The failure of a program that fails in each schedule.
    private func failure(
        _ program: @escaping @Sendable () async throws -> Void
    ) async throws -> SimulationFailure {
        try #require(
            await search("story") { _ in
                try await program()
                throw Found()
            }.failure)
    }

    /// The story, without the layout that breaks its texts.
    private func rows(_ failure: SimulationFailure) -> String { failure.page }

    @Test func `A task that starts another one names it`() async throws {
        let failure = try await failure { await Task(name: "reader") {}.value }
        #expect(rows(failure).contains("starts 'reader'"), "\(failure)")
    }

    @Test func `A task that ends names those that await it`() async throws {
        let failure = try await failure {
            let reader = Task(name: "reader") { await Task.yield() }
            await Task(name: "writer") { await reader.value }.value
        }
        let rows = rows(failure)
        #expect(rows.contains("ends, and resumes 'writer'"), "\(failure)")
        #expect(rows.contains("yields"), "\(failure)")
        #expect(rows.contains("waits"), "\(failure)")
    }

    @Test func `A cancellation names its task, and says how far that is`() async throws {
        let failure = try await failure {
            let ended = Task(name: "early") {}
            await ended.value
            ended.cancel()
            let living = Task(name: "sleeper") { try? await Task.sleep(for: .seconds(60)) }
            while !living.isCancelled {
                await Task.yield()
                living.cancel()
            }
            await living.value
            Task(name: "late") {}.cancel()
        }
        let rows = rows(failure)
        #expect(rows.contains("cancels 'early', which has ended"), "\(failure)")
        #expect(rows.contains("cancels 'sleeper', and resumes it"), "\(failure)")
        #expect(rows.contains("cancels 'late', which has not begun"), "\(failure)")
    }

    @Test func `A task that cancels itself, and one that cancels a group, are told`() async throws {
        let failure = try await failure {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                group.cancelAll()
            }
        }
        let rows = rows(failure)
        #expect(rows.contains("cancels the tasks of a group"), "\(failure)")
        #expect(rows.contains("cancels 'task 2'"), "\(failure)")
    }

    @Test func `A task that something else cancels is told as cancelled, once`() async throws {
        let failure = try await failure {
            // Cancelled where its scope ends.
            async let _: Void = {
                await Task.yield()
                await Task.yield()
            }()
        }
        #expect(
            failure.trace.joined().components(separatedBy: "(cancelled)").count == 2, "\(failure)")
    }

    @Test func `What a handler does follows the cancellation`() async throws {
        let failure = try await failure {
            let (elements, source) = AsyncStream.makeStream(of: Int.self)
            let reader = Task(name: "reader") {
                await withTaskCancellationHandler {
                    for await _ in elements {}
                } onCancel: {
                    source.finish()
                }
            }
            await Task.yield()
            reader.cancel()
            await reader.value
        }
        let rows = rows(failure)
        let cancels = try #require(rows.firstRange(of: "cancels 'reader'"), "\(failure)")
        let text = "finishes a stream, and resumes 'reader', as 'reader' is cancelled"
        let finishes = try #require(rows.firstRange(of: text), "\(failure)")
        #expect(cancels.lowerBound < finishes.lowerBound, "\(failure)")
    }

    @Test func `Who resumes a continuation names the task`() async throws {
        let failure = try await failure {
            let (stream, source) = AsyncStream.makeStream(of: CheckedContinuation<Void, Never>.self)
            let reader = Task(name: "reader") {
                await withCheckedContinuation { _ = source.yield($0) }
            }
            for await waiter in stream {
                waiter.resume()
                break
            }
            await reader.value
        }
        #expect(rows(failure).contains("resumes 'reader'"), "\(failure)")
    }

    @Test func `What a task waits for is told`() async throws {
        let failure = try await failure {
            let writer = Task(name: "writer") { await Task.yield() }
            await Task(name: "reader") { await writer.value }.value
            await withTaskGroup { group in group.addTask { await Task.yield() } }
            let (waiters, source) = AsyncStream.makeStream(
                of: CheckedContinuation<Void, Never>.self)
            let waiting = Task(name: "waiting") {
                await withCheckedContinuation { _ = source.yield($0) }
            }
            for await waiter in waiters {
                await Task.yield()
                waiter.resume()
                break
            }
            await waiting.value
        }
        let rows = rows(failure)
        for text in ["waits for 'writer'", "waits for a task of its group", "waits to be resumed"] {
            #expect(rows.contains(text), "\(failure)")
        }
    }

    @Test func `The error that ends a task is told`() async throws {
        func tells(_ program: @escaping @Sendable () async throws -> Void) async throws -> Bool {
            try await failure(program).trace.contains { $0.contains("ends, throwing Missing") }
        }
        let task = try await tells { _ = try? await Task { throw Missing() }.value }
        let child = try await tells {
            async let child: Void = { throw Missing() }()
            try? await child
        }
        let member = try await tells {
            try? await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { throw Missing() }
                try await group.next()
            }
        }
        #expect(task && child && member)
        let fine = try await tells {
            _ = try? await Task { () async throws -> Int in
                await Task.yield()
                return 1
            }.value
            await Task { await Task.yield() }.value
            async let child: Int = { () async throws -> Int in 1 }()
            _ = try? await child
        }
        #expect(!fine)
        let test = try await failure {}
        #expect(test.trace.contains { $0.contains("ends, throwing Found") }, "\(test)")
    }

    private struct Missing: Error {}

    /// Their first parts run inside a part of another task.
    @Test func `Tasks that begin at once are told`() async throws {
        guard #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) else { return }
        let failure = try await failure {
            let fine = Task.immediate(name: "fine") { await Task.yield() }
            let broken = Task.immediate {
                await fine.value
                await Task.yield()
                throw Missing()
            }
            await withDiscardingTaskGroup { group in
                group.addImmediateTask { await Task.yield() }
            }
            _ = try? await broken.value
            await fine.value
        }
        #expect(rows(failure).contains("waits"), "\(failure)")
    }

    @Test func `What comes of an element is told`() async throws {
        let lost = "yields an element to a stream that has finished: it is lost"
        let dropped = "yields an element to a stream that is full: one is dropped"
        func count(_ text: String, _ program: @escaping @Sendable () -> Void) async throws -> Int {
            let failure = try await failure {
                await Task.yield()
                program()
            }
            return rows(failure).components(separatedBy: text).count - 1
        }
        for isFinished in [true, false] {
            let text = isFinished ? lost : dropped
            let ofNumbers = try await count(text) {
                let (stream, source) = AsyncStream.makeStream(
                    of: String.self, bufferingPolicy: .bufferingOldest(0))
                if isFinished { source.finish() }
                source.yield("one")
                source.yield(with: .success("two"))
                withExtendedLifetime(stream) {}
            }
            let ofNothing = try await count(text) {
                let (stream, source) = AsyncStream.makeStream(
                    of: Void.self, bufferingPolicy: .bufferingOldest(0))
                if isFinished { source.finish() }
                source.yield()
                withExtendedLifetime(stream) {}
            }
            let throwing = try await count(text) {
                let (stream, source) = AsyncThrowingStream.makeStream(
                    of: Int.self, bufferingPolicy: .bufferingOldest(0))
                if isFinished { source.finish() }
                source.yield(1)
                source.yield(with: .success(2))
                withExtendedLifetime(stream) {}
            }
            let throwingNothing = try await count(text) {
                let (stream, source) = AsyncThrowingStream.makeStream(
                    of: Void.self, bufferingPolicy: .bufferingOldest(0))
                if isFinished { source.finish() }
                source.yield()
                withExtendedLifetime(stream) {}
            }
            let counts = [ofNumbers, ofNothing, throwing, throwingNothing]
            #expect(counts == [2, 1, 2, 1], "\(isFinished ? "finished" : "full")")
        }
        let enqueued = try await count("yields an element to a stream<") {
            let (stream, source) = AsyncStream.makeStream(of: Int.self)
            source.yield(1)
            withExtendedLifetime(stream) {}
        }
        #expect(enqueued == 1)
    }

    @Test func `Entering and leaving an actor are told`() async throws {
        let failure = try await failure {
            let account = Account()
            try await account.withdraw(10)
            await account.wait()
            await Task(name: "second") { try? await account.withdraw(10) }.value
        }
        let rows = rows(failure)
        for text in [
            "enters actor 'Account'", "leaves actor 'Account'<", "yields",
        ] {
            #expect(rows.contains(text), "\(failure)")
        }
    }

    @Test func `A step of the program is told`() throws {
        let failure = try #require(
            search("steps") { sim in
                sim.spawn("alice") {
                    sim.step()
                    throw Found()
                }
            }.failure)
        #expect(failure.trace.contains { $0.contains("passes sim.step()") }, "\(failure)")
    }

    /// An actor whose check and act are apart.
    private actor Account {
        private var balance = 100
        func wait() async { await suspend() }
        private func suspend(isolation: isolated (any Actor)? = #isolation) async {
            await withCheckedContinuation { waiter in Task { waiter.resume() } }
        }
        func withdraw(_ amount: Int) async throws {
            guard balance >= amount else { return }
            await Task.yield()
            balance -= amount
            if balance < 0 { throw Found() }
        }
    }

    #if DEBUG
    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: #filePath), "with its source at hand"))
    func `A task of an async let has the name of its variable`() async throws {
        let failure = try await failure {
            async let alice: Void = Task.yield()
            async let bob: Void = Task.yield()
            _ = await (alice, bob)
        }
        let text = failure.description
        for name in ["(alice)", "(bob)"] { #expect(text.contains(name), "\(failure)") }
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: #filePath), "with its source at hand"))
    func `The line of each await is told, with its code`() async throws {
        let line = #line
        let failure = try await failure {
            let reader = Task(name: "reader") {
                await Task.yield()
                await Task(name: "writer") {}.value
            }
            await reader.value
        }
        let lines = failure.description.split(separator: "\n")
        for (number, text) in [
            (line + 3, "yields"), (line + 4, "continues"), (line + 6, "continues"),
        ] {
            #expect(
                lines.contains {
                    $0.contains("PlainTaskStoryTests.swift:\(number) ") && $0.contains(text)
                }, "\(number): \(failure)")
        }
        // The page has no columns that break a text.
        for (task, code) in [
            ("reader", "await reader.value"),
            ("writer", "await Task(name: &quot;writer&quot;) {}.value"),
        ] {
            #expect(failure.page.contains("continues at `\(code)`"), "\(failure.page)")
            #expect(failure.page.contains("waits for '\(task)' at `\(code)`"), "\(failure.page)")
        }
    }
    private func pause() async { await Task.yield() }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: #filePath), "with its source at hand"))
    func `Of a function that only waits the call is told, and where a scope waits by itself`()
        async throws
    {
        let failure = try await failure {
            async let _: Void = self.pause()
            await self.pause()
        }
        let rows = rows(failure)
        #expect(rows.contains("continues at `await self.pause()`"), "\(failure)")
        #expect(rows.contains("waits for 'task 2' where a scope ends"), "\(failure)")
        #expect(!rows.contains("func pause") && !rows.contains("(_)"), "\(failure)")
    }
    #endif

    @Test func `A free lock and a yield without a switch have one line each`() async throws {
        let lock = NSLock()
        let failure = try await failure {
            for _ in 0..<2 {
                lock.withLock {}
                await Task.yield()
            }
            lock.withLock { _ = Task(name: "writer") {} }
        }
        let trace = failure.trace
        #expect(trace.count { $0.contains("uses 'a lock'") } == 2, "\(failure)")
        #expect(trace.count { $0.contains("enters 'a lock'") } == 1, "\(failure)")
        #expect(trace.count { $0.contains("leaves 'a lock'") } == 1, "\(failure)")
        #expect(trace.count { $0.contains("yields") } == 2, "\(failure)")
        #expect(!trace.contains { $0.contains("continues") }, "\(failure)")
    }

    @Test func `No arrow leads from a task to itself, and no line is too wide`() async throws {
        let name =
            "a task whose name is as long as the name of a test that says what it expects of it"
        for seed in UInt64(0)..<20 {
            let failure = try #require(
                await search(name, seed: seed) { _ in
                    let account = Account()
                    async let one: Void = Task(name: name) { try await account.withdraw(80) }.value
                    async let other: Void = Task(name: "bob") { try await account.withdraw(80) }
                        .value
                    _ = try await (one, other)
                }.failure)
            let lines = failure.description.split(separator: "\n").dropFirst()
            #expect(!lines.contains { $0.contains("| > switch") }, "\(failure)")
            #expect(
                lines.filter { $0.contains(" | ") && !$0.contains(": ") }.allSatisfy {
                    $0.count <= 100
                },
                "\(failure)")
        }
    }
}
