import ExecutionContextsTesting
import TestSupport
import Testing

@testable import ExecutionContextsSearch

/// The trait on a suite.
@Suite(.patient, .noting)
struct SearchedSuiteTests {
    @Test func `tests with one order are counted in one line, and do not fail`() async throws {
        let suite = try #require(NotingTrait.suites.value["SearchedSuiteTests"])
        let (test, testCase) = (try #require(Test.current), Test.Case.current)
        let trait = SearchedTrait.searched(schedules: 20)
        let found = try await recorded {
            try await trait.provideScope(for: suite, testCase: nil) {
                try await trait.provideScope(for: test, testCase: testCase) {
                    #expect(await Account().balance == 100)
                }
                try await trait.provideScope(for: test, testCase: testCase) {
                    #expect(await Account.afterTwo(80, 10) <= 100)
                }
            }
        }
        #expect(found.count == 1)
        #expect(found.first?.isFailure == false)
        #expect(found.first?.story.contains("The searches of 1 test of ") == true, "\(found)")
    }

    @Test func `the trait that is closest to the test has the test`() throws {
        let (suite, test) = (SearchedTrait.searched(schedules: 2), SearchedTrait.searched)
        let traits: [any Trait] = [suite, .patient, test, .serialized]
        #expect(!suite.isClosest(of: traits))
        #expect(test.isClosest(of: traits))
        #expect(suite.isClosest(of: [.serialized]))
    }

    @Test func `the trait has a scope for a suite and for a case, and none for the cases together`()
        throws
    {
        let suite = try #require(NotingTrait.suites.value["SearchedSuiteTests"])
        let (test, testCase) = (try #require(Test.current), Test.Case.current)
        #expect(SearchedTrait.searched.scopeProvider(for: suite, testCase: nil) != nil)
        #expect(SearchedTrait.searched.scopeProvider(for: test, testCase: testCase) != nil)
        #expect(SearchedTrait.searched.scopeProvider(for: test, testCase: nil) == nil)
    }
}

/// Notes the suites that have it, by their names.
private struct NotingTrait: SuiteTrait {
    static let suites = Box<[String: Test]>([:])

    func prepare(for test: Test) { Self.suites.withValue { $0[test.name] = test } }
}

extension Trait where Self == NotingTrait {
    fileprivate static var noting: Self { Self() }
}
