// Counts what the library's own code costs on a simulated machine with many processors.
let words = CommandLine.arguments.dropFirst()
let (text, seed) = (words.first ?? "", UInt64(words.dropFirst().first ?? "1"))
let shapes = (Shape.pool + Shape.coordinator).filter { $0.description.contains(text) }
guard words.count <= 2, let seed, !shapes.isEmpty else {
    fatalError("usage: Contention [TEXT [SEED]]: the shapes whose names contain the text")
}
Table.print(seed: seed, of: shapes)
