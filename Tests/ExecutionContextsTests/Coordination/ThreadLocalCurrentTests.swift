import ExecutionContexts
import TestSupport
import Testing

/// `withCurrent`, which gives access to a thread's value that is not `Sendable` (law 22).
@Suite(.patient)
struct ThreadLocalCurrentTests {
    /// Not `Sendable`.
    private final class Note {
        var numbers: [Int] = []
    }

    private static func kinds(_ key: String) -> [ThreadLocalValue<Note>] {
        [
            ThreadLocalValue<Note> { _ in Note() },
            ThreadLocalValue<Note>(namespace: "current", key: key) { _ in Note() },
        ]
    }

    @Test func `Law 22: each thread makes one value, and the closure's changes to it persist`() {
        for local in Self.kinds("own") {
            onThreads(4) {
                for number in 0..<10 { local.withCurrent { $0?.numbers.append(number) } }
                #expect(local.withCurrent { $0?.numbers } == Array(0..<10))
            }
        }
    }

    @Test func `Law 22: the closure may replace the value, remove it and throw`() {
        for local in Self.kinds("changed") {
            onThreads(1) {
                local.withCurrent { note in
                    note = Note()
                    note?.numbers = [7]
                }
                #expect(local.withCurrent { $0?.numbers } == [7])
                #expect(throws: Oops.self) {
                    try local.withCurrent { note in
                        note?.numbers.append(8)
                        throw Oops()
                    }
                }
                #expect(local.withCurrent { $0?.numbers } == [7, 8])
                local.withCurrent { $0 = nil }
                #expect(local.withCurrent { $0?.numbers } == [])
                local.set(nil)
                let other = Note()
                other.numbers = [9]
                local.withValue(other) { #expect(local.withCurrent { $0?.numbers } == [9]) }
                #expect(local.withCurrent { $0?.numbers } == [])
            }
        }
    }

    @Test func `Law 22: without an instantiator there is no value until the closure stores one`() {
        let local = ThreadLocalValue<Note>()
        onThreads(1) {
            #expect(local.withCurrent { $0 == nil })
            local.withCurrent { $0 = Note() }
            #expect(local.withCurrent { $0 != nil })
        }
    }

    @Test func `Law 22: an instantiator and a closure may use other thread-locals`() {
        let (first, second) = (Self.kinds("first"), Self.kinds("second"))
        let sum = ThreadLocalValue<Int> { _ in first[0].withCurrent { $0?.numbers.count ?? 0 } + 1 }
        onThreads(1) {
            #expect(sum.withCurrent { $0 } == 1)
            for (first, second) in zip(first, second) {
                first.withCurrent { note in
                    note?.numbers.append(second.withCurrent { $0?.numbers.count ?? -1 })
                }
                #expect(first.withCurrent { $0?.numbers } == [0])
            }
        }
    }

    @Test(arguments: ["withCurrent", "value", "cachedValue", "set", "withValue"])
    func `Law 22: a second use of the thread-local within its own closure traps with a message`(
        _ use: String
    )
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
        try expectTrap(result, "within its own withCurrent", "law 22")
    }

    @Test func `Laws 21, 22: within withCurrent, a second thread-local of its key traps`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let one = ThreadLocalValue<String>(key: "same") { _ in "one" }
            let other = ThreadLocalValue<String>(key: "same")
            one.withCurrent { _ in other.set("two") }
        }
        try expectTrap(result, "'same'", "laws 21, 22")
    }
}
