import ExecutionContexts
import Testing

/// The message of a refusal (law 1).
struct RefusalTests {
    @Test(arguments: [
        (Refusal.Reason.full(capacity: 3), "refused", "3 jobs"),
        (.droppedForNewer, "dropped", "newer work"),
        (.invalidated, "did not run", "token"),
        (.shutDown, "refused", "shut down"),
        (.abandoned, "abandoned", "without running it"),
    ])
    func `Law 1: the message of a refusal names the outcome, the source location and the cause`(
        reason: Refusal.Reason, outcome: String, cause: String
    ) {
        let message = "\(Refusal(reason, by: "pool", sourceLocation: "Library/Loader.swift:12"))"
        #expect(message.hasPrefix("Work submitted at Library/Loader.swift:12 "))
        for part in ["'pool'", "(law 1)", outcome, cause] {
            #expect(message.contains(part), "\(message)")
        }
        #expect(message.hasSuffix("."))
        #expect("\(Refusal(reason, by: "pool"))".hasPrefix("Work "))
    }
}
