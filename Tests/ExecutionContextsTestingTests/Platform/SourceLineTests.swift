// Release builds and other systems tell no lines.
#if os(Linux) && DEBUG
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The lines of a program in the story of a failure.
@Suite(.patient)
struct SourceLineTests {
    @Test func `Law 33: the failure tells both lines`() throws {
        let value = Box<UInt>(0)
        let report = search("lines") { sim in
            let count = Shared(0, name: "count")
            sim.spawn("alice") { count.value = 1 }
            value.value = #line - 1
            sim.spawn("bob") { count.value = 2 }
        }
        let line = value.value
        let text = report.description
        #expect(text.contains("'alice' is at SourceLineTests.swift:\(line)"), "\(text)")
        #expect(text.contains("'bob' is at SourceLineTests.swift:\(line + 2)"), "\(text)")
        #expect(text.contains("SourceLineTests.swift:\(line) | writes 'count': 2 -> 1"), "\(text)")
    }

    // Unchecked: the variable is unguarded, for the test to find that.
    private final class Counts: @unchecked Sendable {
        @Shared("first") private var first = 0
        private let section = CriticalSection()

        /// The line of the change.
        func change() -> UInt {
            first += 1
            return #line - 1
        }

        func guardedChange() -> UInt {
            section.execute {
                let line: UInt = #line + 1
                first += 1
                return line
            }
        }
    }

    @Test func `Law 33: the line of a change in place is that of the change, or beside it`() throws
    {
        let lines = Box<[UInt]>([])
        let report = search("in place") { sim in
            let counts = Counts()
            sim.spawn("alice") { lines.value = lines.value + [counts.change()] }
            sim.spawn("bob") { lines.value = lines.value + [counts.guardedChange()] }
        }
        let text = report.description
        #expect(report.failure?.kind == .dataRace, "\(text)")
        for line in Set(lines.value) {
            // The compiler gives parts of the change the line before or after it.
            let near = [line - 1, line, line + 1]
            #expect(
                near.contains { text.contains("SourceLineTests.swift:\($0) | ") },
                "\(line): \(text)")
            #expect(
                near.contains { text.contains(" is at SourceLineTests.swift:\($0)") },
                "\(line): \(text)")
        }
    }
}
#endif
