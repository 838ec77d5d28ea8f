import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Law 33: what a process makes once shows in no schedule, whichever public type it uses first.
@Suite(.patient, .serialized)
struct FirstUseTests {
    #if compiler(>=6.3)
    @Test(arguments: FirstUse.names)
    func `Law 33: each public type replays exactly, also as the first one that a process uses`(
        name: String
    )
        async throws
    {
        // The child always exits with success, and writes a failure to its standard error.
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            [name] in
            let report = search(
                name, schedules: 12, strategy: .random, ignoring: [.vacuous],
                FirstUse.program(name))
            if let failure = report.failure {
                FileHandle.standardError.write(Data("found: \(failure)".utf8))
            }
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(!output.contains("found: "), "\(output)")
    }
    #endif
}
