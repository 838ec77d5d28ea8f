import ExecutionContextsTesting
import Foundation
import Pages

/// An office with a bug, and its search.
struct Demonstration: Sendable {
    let name: String
    /// The bug, in a sentence.
    let cause: String
    let search: @Sendable (_ isMended: Bool, _ token: String?) async -> SimulationReport

    static let ofContexts = Demonstration(
        name: "ticket-office",
        cause: "The office finds a seat free in one access and takes it in a second one. "
            + "Between the two, another customer finds the same seat free.",
        search: { isMended, token in hunt(isMended: isMended, replay: token) })

    static let ofActor = Demonstration(
        name: "box-office",
        cause: "While one customer's payment is awaited, the actor serves the next customer, "
            + "who finds the same seat unsold.",
        search: { isMended, token in await huntInActor(isMended: isMended, replay: token) })

    /// Searches the careless office, draws its failure, and searches the mended office.
    ///
    /// Returns whether the first search found the bug and the second one nothing.
    func run() async throws -> Bool {
        let careless = await search(false, nil)
        print(careless)
        guard let failure = careless.failure else { return false }
        let path = try pagePath("\(name).html", of: "bug-hunt")
        try failure.page.write(toFile: path, atomically: true, encoding: .utf8)
        print("\nWhat went wrong: \(cause)\nThe same drawing for a browser: \(path)\n")
        let mended = await search(true, nil)
        print("Mended: \(mended)")
        return mended.failure == nil
    }
}
