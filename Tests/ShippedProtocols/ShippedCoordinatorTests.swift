import ExecutionContextsTesting
import Testing

/// The shipped coordinator, under the memory that Swift promises.
///
/// In the suite of the other protocols, whose tests run one after the other: one world is present.
extension ShippedProtocolTests {
    @Test(arguments: CoordinatorPrograms.all)
    func `Laws 16, 17, 18: what ships keeps readers and writers apart and loses none`(
        program: Program
    ) {
        World.weakening = nil
        let report = program.search(schedules: 200)
        #expect(report.failure == nil, "\(report)")
    }
}
