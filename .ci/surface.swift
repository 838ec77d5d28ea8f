// Prints Docs/Surface.md: arguments are the folder of symbol graphs and the libraries in order.
import Foundation

struct Graph: Decodable {
    struct Module: Decodable { var name: String }
    var symbols: [Symbol]
    var relationships: [Relationship]
}
struct Symbol: Decodable {
    struct Kind: Decodable { var identifier: String }
    struct Identifier: Decodable { var precise: String }
    struct Comment: Decodable {
        struct Line: Decodable { var text: String }
        var lines: [Line]
    }
    var kind: Kind
    var identifier: Identifier
    var pathComponents: [String]
    var docComment: Comment?

    var isType: Bool {
        ["class", "struct", "enum", "protocol"].contains(kind.identifier.dropFirst("swift.".count))
    }
    /// The type that declares it; empty for a type and for a member of the module.
    var owner: String { isType ? path : pathComponents.dropLast().joined(separator: ".") }
    var path: String { pathComponents.joined(separator: ".") }
    var name: String {
        let name = pathComponents.last ?? ""
        switch kind.identifier.dropFirst("swift.".count) {
        case "enum.case": return "case " + name
        case "type.method", "type.property", "type.subscript": return "static " + name
        case "typealias", "associatedtype": return "\(kind.identifier.dropFirst("swift.".count)) " + name
        default: return name
        }
    }
    /// The name without its labels.
    var family: String { String(name.prefix { $0 != "(" }) }
    /// The first sentence of the doc comment.
    var summary: String {
        let paragraph = (docComment?.lines ?? []).prefix { !$0.text.isEmpty }.map(\.text)
        let text = paragraph.joined(separator: " ").replacing("``", with: "`")
        let sentence = text.range(of: ". ").map { String(text[..<$0.lowerBound]) } ?? text
        return sentence.trimmingCharacters(in: CharacterSet(charactersIn: ".: "))
            .replacing("|", with: "\\|")
    }
}
struct Relationship: Decodable {
    struct Origin: Decodable {}
    var kind: String
    var source: String
    var sourceOrigin: Origin?
}

func graphs(of library: String, in folder: String) throws -> [Graph] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/" + library).sorted()
    return try names.filter { $0.hasSuffix(".symbols.json") }.map {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(library)/\($0)"))
        return try JSONDecoder().decode(Graph.self, from: data)
    }
}

/// The text in lines of at most 100 columns.
func wrapped(_ text: String) -> String {
    text.split(separator: " ").reduce(into: [""]) { lines, word in
        let isFull = lines.last!.count + word.count >= 100
        if isFull { lines.append("") }
        lines[lines.count - 1] += (lines.last!.isEmpty ? "" : " ") + word
    }.joined(separator: "\n")
}

let folder = CommandLine.arguments[1]
var pages: [String] = []
var overview: [String] = []
for library in CommandLine.arguments.dropFirst(2) {
    let graphs = try graphs(of: library, in: folder)
    // A witness says what its requirement says, and has no comment of its own or inherits one.
    let witnesses = Set(
        graphs.flatMap(\.relationships)
            .filter { $0.kind == "defaultImplementationOf" || $0.sourceOrigin != nil }.map(\.source))
    let symbols = graphs.flatMap(\.symbols).filter {
        !witnesses.contains($0.identifier.precise) && $0.docComment != nil
    }
    var members = Dictionary(grouping: symbols.filter { !$0.isType }, by: \.owner)
    let types = Dictionary(grouping: symbols.filter(\.isType), by: \.path)
    var families = 0
    func table(_ symbols: [Symbol]) -> [String] {
        let byName = Dictionary(grouping: symbols, by: \.name)
        families += Set(symbols.map(\.family)).count
        let rows = byName.sorted { $0.key < $1.key }.map { name, overloads in
            let summaries = overloads.map(\.summary).sorted { ($0.count, $0) < ($1.count, $1) }
            let count = overloads.count > 1 ? " × \(overloads.count)" : ""
            return "| `\(name)`\(count) | \(summaries[0]) |"
        }
        return ["| declaration | summary |", "|---|---|"] + rows + [""]
    }
    pages += ["## \(library)", ""]
    if let free = members.removeValue(forKey: "") { pages += table(free) }
    for owner in Set(types.keys).union(members.keys).sorted() {
        let type = types[owner]?.first
        let kind = type.map { $0.kind.identifier.dropFirst("swift.".count) } ?? "extension"
        pages += ["### \(owner)", "", wrapped(kind + (type.map { ": " + $0.summary } ?? "")), ""]
        if let members = members[owner] { pages += table(members) }
    }
    let others = symbols.filter { !$0.isType }.count
    overview.append("| \(library) | \(types.count) | \(others) | \(families) |")
}
print(
    """
    # Public surface

    Every public declaration, from the symbol graphs of the libraries on Linux. `.ci/surface` writes
    this page, and `.ci/surface --check` fails if it is not current. A witness of a requirement is
    left out. `× 2` counts declarations with the same labels. A family has one base name in one
    type.

    | library | types | other declarations | families |
    |---|---|---|---|
    \(overview.joined(separator: "\n"))

    \(pages.dropLast().joined(separator: "\n"))
    """)
