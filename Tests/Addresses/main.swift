// Programs for the address sanitizer, in release: `list` prints their names, and a name runs one.
import Foundation

let argument = CommandLine.arguments.dropFirst().joined(separator: " ")
if argument == "list" {
    for name in endings.map(\.name) + stresses.map(\.name) { print(name) }
    exit(0)
}
endings.first { $0.name == argument }?.body()
guard let stress = stresses.first(where: { $0.name == argument }) else {
    fatalError("There is no \(argument).")
}
stress.body()
