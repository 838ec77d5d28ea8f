// Release builds and other systems tell no lines.
#if os(Linux) && DEBUG
import ExecutionContextsTesting
import Testing

/// The lines of a program in the story of a failure.
@Suite(.timeLimit(.minutes(30)))
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
}
#endif
