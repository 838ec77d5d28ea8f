import ExecutionContexts
import Testing

/// `withCurrent`, the way to a thread's value that is not `Sendable` (law 22).
@Suite(.timeLimit(.minutes(30)))
struct ThreadLocalCurrentTests {
    /// Not `Sendable`.
    private final class Note {
        var lines: [Int] = []
    }

    private static func kinds(_ key: String) -> [ThreadLocalValue<Note>] {
        [
            ThreadLocalValue<Note> { _ in Note() },
            ThreadLocalValue<Note>(namespace: "current", key: key) { _ in Note() },
        ]
    }

    @Test func `Law 22: each thread has its own, made once, and what the closure does to it stays`() {
        for local in Self.kinds("own") {
            onThreads(4) {
                for number in 0..<10 { local.withCurrent { $0?.lines.append(number) } }
                #expect(local.withCurrent { $0?.lines } == Array(0..<10))
            }
        }
    }

    @Test func `Law 22: the closure may exchange the value, take it away and throw`() {
        for local in Self.kinds("changed") {
            onThreads(1) {
                local.withCurrent { note in
                    note = Note()
                    note?.lines = [7]
                }
                #expect(local.withCurrent { $0?.lines } == [7])
                #expect(throws: Oops.self) {
                    try local.withCurrent { note in
                        note?.lines.append(8)
                        throw Oops()
                    }
                }
                #expect(local.withCurrent { $0?.lines } == [7, 8])
                local.withCurrent { $0 = nil }
                #expect(local.withCurrent { $0?.lines } == [])
                local.set(nil)
                let other = Note()
                other.lines = [9]
                local.withValue(other) { #expect(local.withCurrent { $0?.lines } == [9]) }
                #expect(local.withCurrent { $0?.lines } == [])
            }
        }
    }

    @Test func `Law 22: without an instantiator there is nothing until the closure puts something there`() {
        let local = ThreadLocalValue<Note>()
        onThreads(1) {
            #expect(local.withCurrent { $0 == nil })
            local.withCurrent { $0 = Note() }
            #expect(local.withCurrent { $0 != nil })
        }
    }

    @Test func `Law 22: an instantiator and a closure may use other thread-locals`() {
        let (first, second) = (Self.kinds("first"), Self.kinds("second"))
        let sum = ThreadLocalValue<Int> { _ in first[0].withCurrent { $0?.lines.count ?? 0 } + 1 }
        onThreads(1) {
            #expect(sum.withCurrent { $0 } == 1)
            for (first, second) in zip(first, second) {
                first.withCurrent { note in
                    note?.lines.append(second.withCurrent { $0?.lines.count ?? -1 })
                }
                #expect(first.withCurrent { $0?.lines } == [0])
            }
        }
    }

    @Test(arguments: ["withCurrent", "value", "cachedValue", "set", "withValue"])
    func `Law 22: another use of the value within its own closure traps with a message`(_ use: String)
        async throws
    {
        let result =
            switch use {
            case "withCurrent":
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    let local = ThreadLocalValue<Int>(key: "used") { _ in 1 }
                    local.withCurrent { _ in local.withCurrent { $0 = 2 } }
                }
            case "value":
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    let local = ThreadLocalValue<Int> { _ in 1 }
                    local.withCurrent { _ in _ = local.value() }
                }
            case "cachedValue":
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    let local = ThreadLocalValue<Int> { _ in 1 }
                    local.withCurrent { _ in _ = local.cachedValue() }
                }
            case "set":
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    let local = ThreadLocalValue<Int>()
                    local.withCurrent { _ in local.set(3) }
                }
            default:
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    let local = ThreadLocalValue<Int> { _ in 1 }
                    local.withCurrent { _ in local.withValue(2) {} }
                }
            }
        try expectSentence(result, "within its own withCurrent", "law 22")
    }

    @Test func `Laws 21, 22: a second thread-local of the same key is not overlooked`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let one = ThreadLocalValue<String>(key: "same") { _ in "one" }
            let other = ThreadLocalValue<String>(key: "same")
            one.withCurrent { _ in other.set("two") }
        }
        try expectSentence(result, "'same'", "laws 21, 22")
    }
}
