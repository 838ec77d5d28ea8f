import ExecutionContexts

/// Shows on which context answers arrive: on the one that the caller chooses, else on any.
func showPlaces(
    _ dataSource: BirdDataSource, _ transport: some Transport, _ background: some SerialContext
) async throws {
    let here: @Sendable () -> String = { place(background) }
    let ofSession = try await transport.get("/birds.json").map { _ in here() }.get()
    say("the session's answer", ofSession)
    // The mistake that contexts prevent: this callback runs where the last answer arrives.
    let careless = try await dataSource.getBirds().map { _ in here() }.get()
    say("birds for a caller without a context", careless)
    let careful = try await dataSource.getBirds().map(on: .main) { _ in here() }.get()
    say("birds for a caller with 'on: .main'", careful)
    let handler = try await Async<String>.fromCallback { done in
        dataSource.getBirds(completion: MainContext().callback { _ in done(here()) })
    }.get()
    say("birds for a handler made by main's callback", handler)
    // The others have no guarantee: if the answer exists already, they run on the caller.
    guard [careful, handler] == ["on main", "on main"] else {
        throw Surprise(what: "An answer arrived on another context.")
    }
}

private func place(_ background: some ExecutionContext) -> String {
    if background.isCurrent == true { return "on '\(background.name)'" }
    return MainContext().isCurrent == true ? "on main" : "elsewhere"
}
