import ExecutionContexts
import Foundation

/// Shows on which context the answers of the session and of data sources arrive.
func showPlaces(
    _ dataSource: BirdDataSource, _ transport: URLSessionTransport, _ background: some SerialContext
) async throws {
    let here: @Sendable () -> String = { place(background) }
    let ofSession = await withCheckedContinuation { done in
        transport.get("/birds.json") { _ in done.resume(returning: here()) }
    }
    say("the session calls back", ofSession)
    // The mistake that contexts are there to prevent: this one's callback comes wherever the last answer came.
    let careless = BirdDataSource(
        transport: transport, workingOn: background, callingBackOn: ImmediateContext())
    let ofCareless = await withCheckedContinuation { done in
        careless.getBirds { _ in done.resume(returning: here()) }
    }
    say("a data source that calls back where it happens to be", ofCareless)
    let ofDataSource = await withCheckedContinuation { done in
        dataSource.getBirds { _ in done.resume(returning: here()) }
    }
    say("the screen's, which was given main for that", ofDataSource)
    guard [ofSession, ofCareless, ofDataSource] == ["on 'birds'", "on 'birds'", "on main"] else {
        throw Surprise(what: "An answer came elsewhere than it should.")
    }
}

private func place(_ background: some ExecutionContext) -> String {
    if background.isCurrent == true { return "on '\(background.name)'" }
    return MainContext().isCurrent == true ? "on main" : "elsewhere"
}
