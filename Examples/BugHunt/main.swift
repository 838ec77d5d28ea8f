import Foundation

// Searches the ticket office for a bug.
//
// swift run BugHunt                 searches the careless office
// swift run BugHunt mended          searches the careful office
// swift run BugHunt replay TOKEN    runs one schedule of the careless office
let arguments = CommandLine.arguments.dropFirst()
let token = arguments.first == "replay" ? arguments.dropFirst().first : nil
do {
    try hunt(isMended: arguments.first == "mended", replay: token)
    print("Nothing was found.")
} catch {
    print(error)
    exit(1)
}
