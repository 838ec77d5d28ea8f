import Foundation

// A walk through the library: every chapter is a few lines of it, run before your eyes.

let chapters: [Chapter] = [
    contexts, views, limits, coordination, later, delays, virtualTime, whereAmI, bothWorlds, works,
    ownExecutor,
    race, timeline,
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
case let words: fail("Not understood: \(words.joined(separator: " "))")
}

for (index, chapter) in chosen.enumerated() {
    await chapter.tell(index + 1, of: chosen.count)
}
print(
    style.dim("\nThe laws that all of this keeps: Docs/Guarantees.md. The tests that check them: swift test"))
for path in written.entries {
    print("\nThe last chapter as a picture, for any browser: " + style.bold(path))
}
