import ExecutionContextsTesting
import TestSupport
import Testing

/// Fails the test if one of many schedules of a program of tasks shows a fault. It may have one
/// order.
func expectNoFailure(
    _ name: String, schedules: Int = rounds(debug: 100, release: 300),
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
) async {
    let report = await search(name, schedules: schedules, ignoring: [.vacuous], body)
    #expect(report.failure == nil, "\(report)", sourceLocation: sourceLocation)
    #expect(report.schedules == schedules, sourceLocation: sourceLocation)
}
