import Foundation

// A walk through the library. Each chapter runs a few lines of code, and prints the results.

let chapters: [Chapter] = [
    contexts, views, limits, coordination, later, delays, virtualTime, whereAmI, bothWorlds, works,
    ownExecutor,
    race, actors, timeline,
]

func fail(_ problem: String) -> Never {
    print(
        "\(problem)\nusage: Tour [--list | --only NAME]\nchapters: \(chapters.map(\.name).joined(separator: ", "))"
    )
    exit(2)
}

var chosen = chapters
switch CommandLine.arguments.dropFirst() {
case []: break
case ["--list"]:
    for chapter in chapters { print(chapter.name.padding(14), chapter.title) }
    exit(0)
case let words where words.first == "--only" && words.count == 2:
    chosen = chapters.filter { $0.name == words.last }
    if chosen.isEmpty { fail("There is no chapter named '\(words.last!)'.") }
case let words: fail("Unknown arguments: \(words.joined(separator: " "))")
}

for (index, chapter) in chosen.enumerated() {
    await chapter.present(index + 1, of: chosen.count)
}
print(
    style.dim(
        "\nThe laws behind all of this: Docs/Guarantees.md. The tests that check them: swift test"))
if !written.entries.isEmpty { print("\nTimelines, for any browser:") }
for line in written.entries { print("  " + line) }
