import ExecutionContexts

/// Shows on which context answers arrive: where the caller says, and else where they happen to come.
func showPlaces(
    _ dataSource: BirdDataSource, _ transport: some Transport, _ background: some SerialContext
) async throws {
    let here: @Sendable () -> String = { place(background) }
    let ofSession = try await transport.get("/birds.json").map { _ in here() }.get()
    say("the session's answer", ofSession)
    // The mistake that contexts are there to prevent: this callback comes wherever the last answer happens to come.
    let careless = try await dataSource.getBirds().map { _ in here() }.get()
    say("birds for a caller who does not say where", careless)
    let careful = try await dataSource.getBirds().map(on: .main) { _ in here() }.get()
    say("birds for a caller who says 'on: .main'", careful)
    let handler = try await Async<String>.fromCallback { done in
        dataSource.getBirds(completion: MainContext().callback { _ in done(here()) })
    }.get()
    say("birds for a completion handler wrapped by main", handler)
    // Of the others nothing is promised: where an answer is there already, they come on the caller.
    guard [careful, handler] == ["on main", "on main"] else {
        throw Surprise(what: "An answer came elsewhere than it should.")
    }
}

private func place(_ background: some ExecutionContext) -> String {
    if background.isCurrent == true { return "on '\(background.name)'" }
    return MainContext().isCurrent == true ? "on main" : "elsewhere"
}
