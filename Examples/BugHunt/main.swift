import Foundation

// Searches the ticket office for a fault: `swift run BugHunt`, with 'mended' for the other office, with 'replay' and a
// token for one schedule.
let arguments = CommandLine.arguments.dropFirst()
let token = arguments.first == "replay" ? arguments.dropFirst().first : nil
do {
    try hunt(isMended: arguments.first == "mended", replay: token)
    print("Nothing was found.")
} catch {
    print(error)
    exit(1)
}
