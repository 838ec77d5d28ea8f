import ExecutionContexts

/// A screen with birds. It is isolated to the main actor.
@MainActor
final class BirdScreen {
    private(set) var birds: Result<[Bird], any Error> = .success([])

    /// Shows the birds of a data source, then calls `done`. The birds arrive on `main`.
    func load(
        from dataSource: BirdDataSource, on main: some MainActorContext,
        done: @escaping @MainActor @Sendable () -> Void
    ) {
        dataSource.getBirds().onComplete(on: main) { birds in
            self.birds = birds
            done()
        }
    }

    /// The birds side by side, each with its name below.
    func lines() throws -> [String] {
        let birds = try birds.get()
        let height = birds.map { $0.picture?.height ?? 0 }.max() ?? 0
        let rows = (0..<height).map { row in
            birds.map { bird in bird.picture.map { row < $0.height ? $0.lines[row] : "" } ?? "" }
        }
        return (rows + [birds.map(\.name)]).map { row in row.map { $0.padded(12) }.joined() }
    }

    func expectBirds(_ names: [String]) throws {
        let birds = try birds.get()
        guard birds.map(\.name) == names, birds.allSatisfy({ $0.picture != nil }) else {
            throw Surprise(what: "Birds or pictures are missing.")
        }
    }
}

extension String {
    /// The text, padded with blanks to `width` characters, at least one blank.
    func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
