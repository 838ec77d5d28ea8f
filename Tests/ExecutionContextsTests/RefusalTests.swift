import ExecutionContexts
import Testing

/// What a refusal says.
struct RefusalTests {
    @Test(arguments: [
        (Refusal.Reason.full(capacity: 3), "refused", "3 pieces"),
        (.droppedForNewer, "dropped", "newer work"),
        (.invalidated, "did not run", "token"),
        (.shutDown, "refused", "shut down"),
        (.abandoned, "abandoned", "without running it"),
    ])
    func `Law 1: a refusal says what became of the work, where and why`(
        reason: Refusal.Reason, fate: String, cause: String
    ) {
        let sentence = "\(Refusal(reason, by: "pool", origin: "Library/Loader.swift:12"))"
        #expect(sentence.hasPrefix("Work submitted at Library/Loader.swift:12 "))
        for part in ["'pool'", "(law 1)", fate, cause] { #expect(sentence.contains(part), "\(sentence)") }
        #expect(sentence.hasSuffix("."))
        #expect("\(Refusal(reason, by: "pool"))".hasPrefix("Work "))
    }
}
