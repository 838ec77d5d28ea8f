extension SimulationReport {
    /// What was tried, as a page for a browser: the pairs that came in one order only are first.
    ///
    /// If a failure was found, it is that failure's page.
    public var page: String {
        if let failure { return failure.page }
        return Page.text(
            title: "Simulation '\(simulation)'",
            (sentences.map { "<p>\(Page.escaped($0)).</p>" } + table).joined(separator: "\n"))
    }

    private var table: [String] {
        guard let pairs, !pairs.isEmpty else { return [] }
        let rows = pairs.filter { $0.reversed == 0 } + pairs.filter { $0.reversed > 0 }
        return [
            "<table>",
            "<thead><tr><th>object</th><th>first</th><th>second</th><th>in this order</th>"
                + "<th>in the other</th></tr></thead>",
            "<tbody>",
        ] + rows.map(row) + ["</tbody>", "</table>"]
    }

    private func row(_ pair: ConflictingPair) -> String {
        let cells = [pair.object, pair.first, pair.second].map { "<td>\(Page.escaped($0))</td>" }
        let other = pair.reversed == 0 ? "<td class=missed>never</td>" : "<td>\(pair.reversed)</td>"
        return "<tr>\(cells.joined())<td>\(pair.inOrder)</td>\(other)</tr>"
    }
}
