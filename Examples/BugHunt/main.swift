import ExecutionContextsTesting
import Foundation

// Searches two offices for a bug: one over contexts, and one that is an actor.
//
// swift run BugHunt                 searches the careless office
// swift run BugHunt mended          searches the careful office
// swift run BugHunt replay TOKEN    runs one schedule of the careless office
// swift run BugHunt actor ...       the same for the actor
var arguments = CommandLine.arguments.dropFirst()
let isActor = arguments.first == "actor"
if isActor { arguments.removeFirst() }
let isMended = arguments.first == "mended"
let token = arguments.first == "replay" ? arguments.dropFirst().first : nil
do {
    if isActor {
        try await huntInActor(isMended: isMended, replay: token)
    } else {
        try hunt(isMended: isMended, replay: token)
    }
    print("Nothing was found.")
} catch {
    print(error)
    exit(1)
}
