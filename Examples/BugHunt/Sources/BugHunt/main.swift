import ExecutionContextsTesting
import Foundation

// Searches two offices for a bug: one over contexts, and one that is an actor.
//
// After `swift run --package-path Examples/BugHunt`:
//
// BugHunt                 finds the bug, draws it, and searches the mended office
// BugHunt mended          searches the mended office
// BugHunt replay TOKEN    runs one schedule of the careless office
// BugHunt actor ...       the same for the actor
//
// A token in the environment is replayed, too, in the careless office. The exit code is 0 if all is
// as expected, and 1 if a search or a replay has failed.
var arguments = CommandLine.arguments.dropFirst()
var office = Demonstration.ofContexts
if arguments.first == "actor" {
    office = .ofActor
    arguments.removeFirst()
}
let isReplay = ProcessInfo.processInfo.environment["EXECUTION_CONTEXTS_REPLAY"] != nil
if arguments.isEmpty, !isReplay { exit(try await office.run() ? 0 : 1) }
let token = arguments.first == "replay" ? arguments.dropFirst().first : nil
let report = await office.search(arguments.first == "mended", token)
print(report)
exit(report.failure == nil ? 0 : 1)
