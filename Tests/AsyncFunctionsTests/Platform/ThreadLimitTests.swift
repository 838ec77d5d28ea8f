// On the other systems a program cannot run another program.
#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
import TestSupport
import Testing

/// Law 11: what needs a thread where the system has none. A process of its own uses up the memory.
@Suite(.patient, .withoutThreadSanitizer("it does not run where memory is limited"))
struct ThreadLimitTests {
    @Test func `Law 11: a context with a thread of its own ends with a message where none is left`()
        async throws
    {
        let run = try await ProgramRun("MainKinds", "thread-limit", limit: "-v 4000000")
        // Where the system has no such limit, it runs.
        let text = run.lines.joined(separator: "\n")
        #expect(run.lines.last == "ran" || text.contains("no thread for 'late'"), "\(text)")
    }
}
#endif
