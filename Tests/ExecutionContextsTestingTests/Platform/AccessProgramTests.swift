#if os(Linux)
import TestSupport
import Testing

/// Ordinary code that tells its accesses of memory, in a program of its own.
@Suite(.patient, .dispatchIsSimulated)
struct AccessProgramTests {
    @Test func `Law 33: each fault in code that tells its accesses is found from every seed`()
        async throws
    {
        let seeds = seeds(debug: 2, release: 20).count
        try await expectRight(programs: 78 * seeds, "faults", "\(seeds)", "300")
    }

    @Test func `Law 33: mended code that tells its accesses is clean`() async throws {
        try await expectRight(programs: 90, "mended", "\(rounds(debug: 200, release: 10_000))")
    }

    @Test func `Law 33: a failure in code that tells its accesses is replayed`() async throws {
        try await expectRight(programs: 78, "replays")
    }

    @Test func `Law 33: small programs that tell their accesses are proven or refuted`()
        async throws
    {
        try await expectRight(programs: 136, "orders")
    }

    @Test func `Law 33: a race of a stored property names it, and its story names the atomics`()
        async throws
    {
        let run = try await ProgramRun("AccessPrograms", ["orders", "Peterson's lock"])
        #expect(run.lines.contains { $0.contains("the variable is 'Peterson.count'") })
        #expect(run.lines.contains { $0.contains("'Peterson.turn'") })
    }

    private func expectRight(programs: Int, _ arguments: String...) async throws {
        let run = try await ProgramRun("AccessPrograms", arguments)
        #expect(run.exitCode == 0)
        #expect(run.lines.filter { $0.hasPrefix("right: ") }.count == programs)
        #expect(!run.lines.contains { $0.hasPrefix("wrong: ") }, "\(run.lines)")
    }
}
#endif
