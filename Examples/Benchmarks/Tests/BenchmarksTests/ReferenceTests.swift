import Testing

@testable import Benchmarks

/// The allocations, retains and releases of an operation do not grow.
///
/// Only in an optimized build: a debug build retains for each use.
@Suite(.serialized, .enabled(if: isOptimized, "where the build is optimized"))
struct ReferenceTests {
    @Test(arguments: ReferenceBenchmarks.rows)
    func `An operation costs no more than its limit`(_ row: ReferenceBenchmarks.Row) {
        guard let cost = row.measured() else { return }
        // Less than a tenth is the share of one-time costs over a thousand operations.
        #expect(cost.objects < row.limit.objects + 0.1, "\(row.name)")
        #expect(cost.counts < row.limit.counts + 0.1, "\(row.name)")
    }
}

private var isOptimized: Bool {
    #if DEBUG
    false
    #else
    true
    #endif
}
