import ExecutionContextsTesting

let actors = Chapter(name: "actors", title: "Ordinary actors: a race found, replayed, mended") {
    let report = await search("shop") { _ in try await sales(isMended: false) }
    guard let failure = report.failure, let token = failure.token else { throw NothingFound() }
    say("two customers buy the last pear of an actor: found", failure.kind.rawValue)
    for line in failure.trace { print(style.dim("       " + line)) }
    let again = await search("shop", replay: token) { _ in try await sales(isMended: false) }
    say(
        "replayed by its token, \(token)",
        again.failure?.trace == failure.trace ? "the same, step by step" : "?")
    let mended = await search("shop") { _ in try await sales(isMended: true) }
    say(
        "taken from the shelf before the payment",
        mended.failure.map { "\($0)" } ?? "nothing in \(mended.schedules) schedules")
    let deadline = ContinuousClock.now + .seconds(1)
    let slept = try await withDeterministicTasks {
        try await Task.sleep(for: .seconds(3_600))
        return "an hour"
    }
    say(
        "slept in a deterministic test, in under a second",
        ContinuousClock.now < deadline ? slept : "?")
}

private struct NothingFound: Error {}
private struct SoldTwice: Error {}

private actor Shop {
    private var pears = 1
    private let bank = Bank()

    func sell(isMended: Bool) async -> Bool {
        guard pears > 0 else { return false }
        if isMended { pears -= 1 }
        await bank.charge(2)
        if !isMended { pears -= 1 }
        return true
    }
}

private actor Bank {
    private var sum = 0
    func charge(_ amount: Int) { sum += amount }
}

private func sales(isMended: Bool) async throws {
    let shop = Shop()
    async let alice = shop.sell(isMended: isMended)
    async let bob = shop.sell(isMended: isMended)
    let sold = await (alice, bob)
    if sold == (true, true) { throw SoldTwice() }
}
