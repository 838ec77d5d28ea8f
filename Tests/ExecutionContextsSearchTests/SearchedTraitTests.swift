import ExecutionContextsSearch
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Law 33: a searched test fails as it fails by itself, once, with the schedule that shows it.
@Suite(.patient)
struct SearchedTraitTests {
    @Test func `an expectation fails once, where it is, with the story`() async throws {
        let runs = Box(0)
        let line = #line + 3
        let found = try await issues(of: .searched) {
            runs.withValue { $0 += 1 }
            #expect(await Account.afterTwo(80, 80) >= 0)
        }
        #expect(found.count == 1)
        let issue = try #require(found.first)
        guard case .expectationFailed = issue.kind else { throw Unexpected(issue: issue) }
        #expect(issue.sourceLocation?.line == line)
        #expect(issue.story.contains("actor 'Account' was re-entered"), "\(issue.story)")
        #expect(issue.story.contains("Replay it with"))
        #expect(runs.value > 1)
    }

    @Test func `all issues of the schedule are recorded, the story with the first`() async throws {
        let found = try await issues(of: .searched) {
            let balance = await Account.afterTwo(80, 80)
            #expect(balance >= 0)
            #expect(balance != -60, "no second withdrawal")
        }
        #expect(found.count == 2)
        #expect(found.map { $0.story.contains("Replay it with") } == [true, false])
        #expect(found.last?.story == "no second withdrawal")
    }

    @Test func `a test that holds in each order passes after all schedules`() async throws {
        let runs = Box(0)
        let found = try await issues(of: .searched(schedules: 50)) {
            runs.withValue { $0 += 1 }
            #expect(await Account.afterTwo(80, 10) <= 100)
        }
        #expect(found.isEmpty, "\(found)")
        #expect(runs.value >= 50)
    }

    @Test func `an error is recorded as it was thrown`() async throws {
        struct Overdrawn: Error {}
        let found = try await issues(of: .searched) {
            if await Account.afterTwo(80, 80) < 0 { throw Overdrawn() }
        }
        #expect(found.count == 1)
        #expect(found.first?.error is Overdrawn)
        #expect(found.first?.story.contains("threw Overdrawn()") == true)
    }

    @Test func `a requirement fails once`() async throws {
        let found = try await issues(of: .searched) {
            try #require(await Account.afterTwo(80, 80) >= 0)
            Issue.record("not reached")
        }
        #expect(found.count == 1)
        guard case .expectationFailed = found.first?.kind else {
            throw Unexpected(issue: found.first)
        }
    }

    @Test func `a confirmation that is missed in some order fails`() async throws {
        let found = try await issues(of: .searched) {
            await confirmation { confirm in
                if await Account.afterTwo(80, 80) >= 0 { confirm() }
            }
        }
        #expect(found.count == 1)
        guard case .confirmationMiscounted = found.first?.kind else {
            throw Unexpected(issue: found.first)
        }
    }

    @Test func `a known issue and a warning are recorded once, and fail nothing`() async throws {
        let found = try await issues(of: .searched(schedules: 20)) {
            Issue.record("slow", severity: .warning)
            let balance = await Account.afterTwo(80, 80)
            withKnownIssue(isIntermittent: true) { #expect(balance >= 0) }
        }
        #expect(found.map(\.isFailure) == [false, false], "\(found)")
        #expect(found.contains { $0.story == "slow" })
    }

    @Test func `an issue that a task records after the end of the test's function counts`()
        async throws
    {
        let found = try await issues(of: .searched(schedules: 20)) {
            Task {
                await Task.yield()
                let balance = await Account.afterTwo(80, 80)
                #expect(balance >= 0)
            }
        }
        #expect(found.count == 1)
        guard case .expectationFailed = found.first?.kind else {
            throw Unexpected(issue: found.first)
        }
    }

    /// A place for a continuation that may come too late.
    private actor Bell {
        private var waiting: CheckedContinuation<Void, Never>?
        func ring() { waiting.take()?.resume() }
        func wait() async { await withCheckedContinuation { waiting = $0 } }
    }

    @Test func `a task that nothing resumes fails the test, which has its function back`()
        async throws
    {
        let found = try await issues(of: .searched) {
            let bell = Bell()
            async let ringing: Void = bell.ring()
            await bell.wait()
            await ringing
        }
        #expect(found.count == 1)
        #expect(found.first?.story.contains("a lost wake-up") == true, "\(found)")
    }

    @Test func `a thread that blocks is reported at once, and keeps the function until it goes on`()
        async throws
    {
        let test = try #require(Test.current)
        // Where the patience was too short, the search was given up before the test began.
        for patience in Patience.hangs {
            // Input that the simulation does not control.
            let (gate, found) = (Pipe(), Box<[Issue]>([]))
            let (hasBegun, hasReturned) = (Box(false), Box(false))
            let trait = SearchedTrait.searched(schedules: 2, patience: patience)
            let search = Task {
                try await recorded(in: found) {
                    try await trait.provideScope(for: test, testCase: Test.Case.current) {
                        hasBegun.value = true
                        _ = gate.fileHandleForReading.availableData
                        hasReturned.value = true
                    }
                }
            }
            while found.value.isEmpty { await Task.yield() }
            #expect(!hasReturned.value)
            try gate.fileHandleForWriting.close()
            try await search.value
            guard hasBegun.value else { continue }
            #expect(hasReturned.value)
            #expect(found.value.count == 1)
            let story = found.value.first?.story ?? ""
            #expect(story.contains("has reached no scheduling point"), "\(found.value)")
            break
        }
    }

    @Test func `a token replays one schedule`() async throws {
        let program: @Sendable () async -> Void = {
            #expect(await Account.afterTwo(80, 80) >= 0)
        }
        let token = try #require(try await issues(of: .searched, program).first?.token)
        let again = try await issues(of: .searched(replay: token), program)
        #expect(again.count == 1)
        #expect(again.first?.token == token, "\(again)")
    }

    @Test func `a test with one order fails, unless it may have one`() async throws {
        let program: @Sendable () async -> Void = { #expect(await Account().balance == 100) }
        let found = try await issues(of: .searched, program)
        #expect(found.count == 1)
        #expect(found.first?.story.contains("No two of its threads or tasks") == true, "\(found)")
        #expect(try await issues(of: .searched(ignoring: [.vacuous]), program).isEmpty)
    }

    @Test(arguments: [80, 10])
    func `each case of a test is searched under its own name`(amount: Int) async throws {
        let found = try await issues(of: .searched(schedules: 20)) {
            #expect(await Account.afterTwo(80, amount) >= 0)
        }
        #expect(found.count == (amount == 80 ? 1 : 0))
        for issue in found {
            #expect(issue.story.contains("SearchedTraitTests/"), "\(issue.story)")
            #expect(issue.story.contains(" with 80'"), "\(issue.story)")
        }
    }

    @Test func `kinds of failures may be ignored`() async throws {
        let found = try await issues(of: .searched(schedules: 20, ignoring: [.lostWakeUp])) {
            let bell = Bell()
            async let ringing: Void = bell.ring()
            await bell.wait()
            await ringing
        }
        #expect(found.isEmpty, "\(found)")
    }

    @Test func `an issue of a schedule whose failure is ignored is recorded`() async throws {
        let found = try await issues(of: .searched(schedules: 20, ignoring: [.lostWakeUp])) {
            let bell = Bell()
            async let ringing: Void = bell.ring()
            #expect(Bool(false))
            await bell.wait()
            await bell.wait()
            await ringing
        }
        #expect(found.count == 1, "\(found)")
    }

    @Test func `a replay that finds nothing passes`() async throws {
        let isMended = Box(false)
        let program: @Sendable () async -> Void = {
            let balance = await Account.afterTwo(80, 80)
            #expect(isMended.value || balance >= 0)
        }
        let token = try #require(try await issues(of: .searched, program).first?.token)
        isMended.value = true
        #expect(try await issues(of: .searched(replay: token), program).isEmpty)
    }

    @Test func `a test with an exit test runs once, and says that it is not searched`() async throws
    {
        let found = try await issues(of: .searched) {
            await #expect(processExitsWith: .failure) { exit(1) }
            Issue.record("reached")
        }
        #expect(found.map(\.story).count { $0.contains("exit test") } == 1, "\(found)")
        #expect(found.first?.severity == .warning)
        #expect(found.map(\.story).filter { $0.contains("reached") } == ["reached"], "\(found)")
    }

    @Test func `a test whose task is cancelled ends its search`() async throws {
        let runs = Box(0)
        let search = Task {
            try await issues(of: .searched(schedules: .max)) {
                runs.withValue { $0 += 1 }
                _ = await Account.afterTwo(80, 10)
            }
        }
        while runs.value < 10 { await Task.yield() }
        search.cancel()
        #expect(try await search.value.isEmpty)
    }

    private struct Unexpected: Error {
        let issue: Issue?
    }
}
