// On the other systems a program cannot run another program.
#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
import TestSupport
import Testing

/// Law 11: what needs Dispatch where the process has no descriptor left.
///
/// Each case is a process of its own: the tests have used Dispatch before.
@Suite(.patient)
struct DescriptorLimitTests {
    @Test(arguments: ["delay", "job"])
    func `Law 11: the first use of Dispatch at the limit of descriptors ends with a message`(
        _ use: String
    ) async throws {
        let run = try await ProgramRun("MainKinds", "descriptor-limit", use, limit: "-n 64")
        // Where Dispatch needs no descriptors, it runs.
        let text = run.lines.joined(separator: "\n")
        #expect(run.lines.last == "ran" || text.contains("descriptor") && text.contains("law 11"))
    }

    @Test(arguments: ["delay", "job"])
    func `Law 11: once Dispatch has begun, the library stops no use at the limit of descriptors`(
        _ use: String
    ) async throws {
        let run = try await ProgramRun(
            "MainKinds", "descriptor-limit", use, "begun", limit: "-n 64")
        // Dispatch opens some things later, on a thread of its own, and may end the process then.
        #expect(!run.lines.joined().contains("law 11"))
    }
}
#endif
