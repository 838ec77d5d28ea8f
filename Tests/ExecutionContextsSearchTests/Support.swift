import ExecutionContextsSearch
import ExecutionContextsTesting
import TestSupport
import Testing

/// A bank account whose withdrawal checks before it waits, so that two may overdraw it.
actor Account {
    private(set) var balance = 100

    func withdraw(_ amount: Int) async {
        guard balance >= amount else { return }
        await Task.yield()
        balance -= amount
    }

    /// The balance after two withdrawals at the same time.
    static func afterTwo(_ one: Int, _ two: Int) async -> Int {
        let account = Account()
        async let first: Void = account.withdraw(one)
        async let second: Void = account.withdraw(two)
        _ = await (first, second)
        return await account.balance
    }
}

/// The issues that the calling test would record if it had the trait and this body.
func issues(
    of trait: SearchedTrait, _ body: @escaping @Sendable () async throws -> Void
) async throws -> [Issue] {
    let (test, testCase) = (try #require(Test.current), Test.Case.current)
    return try await recorded {
        try await trait.provideScope(for: test, testCase: testCase, performing: body)
    }
}

/// The issues that are recorded in the body.
func recorded(_ body: @escaping @Sendable () async throws -> Void) async throws -> [Issue] {
    let found = Box<[Issue]>([])
    try await recorded(in: found, body)
    return found.value
}

func recorded(
    in found: Box<[Issue]>, _ body: @escaping @Sendable () async throws -> Void
) async throws {
    let (test, testCase) = (try #require(Test.current), Test.Case.current)
    let handler = IssueHandlingTrait.compactMapIssues { issue in
        found.withValue { $0.append(issue) }
        return nil
    }
    try await handler.provideScope(for: test, testCase: testCase, performing: body)
}

extension Issue {
    /// What was added to the issue.
    var story: String { comments.map(\.rawValue).joined(separator: "\n") }

    /// The token in the story.
    var token: String? {
        story.split(separator: "\"").last { $0.contains("-") && !$0.contains(" ") }.map(String.init)
    }
}
