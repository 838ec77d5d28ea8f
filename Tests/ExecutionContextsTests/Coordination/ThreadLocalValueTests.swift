import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Law 22, of thread-locals with and without a key.
@Suite(.patient)
struct ThreadLocalValueTests {
    /// One of each kind. The key is the test's own, so that tests on one thread share no value.
    private static func kinds<Value>(
        _ key: String, instantiator: ThreadLocalValue<Value>.Instantiator? = nil
    ) -> [ThreadLocalValue<Value>] {
        [
            ThreadLocalValue(instantiator: instantiator),
            ThreadLocalValue(key: key, instantiator: instantiator),
            ThreadLocalValue(namespace: "namespace", key: key, instantiator: instantiator),
        ]
    }

    @Test func `Law 22: value() makes and stores a value once a thread`() async {
        await offThePool {
            let made = Box(0)
            for local in Self.kinds(
                "once",
                instantiator: { _ in
                    made.withValue {
                        $0 += 1; return $0
                    }
                })
            {
                made.value = 0
                OwnThread.onEach(4) { _ in
                    #expect(local.cachedValue() == nil)
                    let mine = local.value()
                    for _ in 0..<10 {
                        #expect(local.value() == mine && local.cachedValue() == mine)
                    }
                }
                #expect(made.value == 4)
            }
        }
    }

    @Test func `Law 22: an instantiator that returns nil stores nothing, and runs again`() async {
        await offThePool {
            let calls = Box(0)
            let instantiator: ThreadLocalValue<Int>.Instantiator = { _ in
                calls.withValue {
                    $0 += 1; return $0 % 3 == 0 ? $0 : nil
                }
            }
            for local in Self.kinds("nil", instantiator: instantiator) {
                calls.value = 0
                #expect([local.value(), local.cachedValue(), local.value()] == [nil, nil, nil])
                #expect([local.value(), local.value(), local.cachedValue()] == [3, 3, 3])
                #expect(calls.value == 3)
                local.set(nil)
            }
        }
    }

    @Test
    func `Law 22: cachedValue() never makes a value, nor does value() without an instantiator`()
        async
    {
        await offThePool {
            for local in Self.kinds("cached", instantiator: { _ in 1 }) {
                #expect(local.cachedValue() == nil)
            }
            for local in Self.kinds("none") as [ThreadLocalValue<Int>] {
                #expect(local.value() == nil)
                local.set(2)
                #expect(local.value() == 2)
                local.set(nil)
                #expect(local.value() == nil)
            }
        }
    }

    @Test func `Law 22: set changes the value of its thread only, and setting nil removes it`()
        async
    {
        await offThePool {
            for local in Self.kinds("set", instantiator: { _ in "made" }) {
                OwnThread.onEach(4) { index in
                    local.set("set \(index)")
                    #expect(local.value() == "set \(index)")
                    local.set("again \(index)")
                    #expect(local.cachedValue() == "again \(index)")
                    local.set(nil)
                    #expect(local.cachedValue() == nil)
                    #expect(local.value() == "made")
                }
                #expect(local.cachedValue() == nil)
            }
        }
    }

    @Test func `Law 22: an instantiator gets the thread-local, and value() within it makes none`()
        async
    {
        await offThePool {
            let calls = Box(0)
            let instantiator: ThreadLocalValue<Int>.Instantiator = { local in
                calls.withValue { $0 += 1 }
                #expect(local.value() == nil)
                #expect(local.cachedValue() == nil)
                return local.value() ?? 7
            }
            for local in Self.kinds("recursive", instantiator: instantiator) {
                calls.value = 0
                #expect([local.value(), local.value()] == [7, 7])
                #expect(calls.value == 1)
                local.set(nil)
            }
        }
    }

    @Test func `Law 22: a value that the instantiator stores stays, whatever it returns`() async {
        await offThePool {
            for returned in [2, nil] {
                for local in Self.kinds(
                    "stored",
                    instantiator: { local in
                        local.set(1)
                        #expect(local.value() == 1)
                        return returned
                    })
                {
                    #expect([local.value(), local.cachedValue(), local.value()] == [1, 1, 1])
                    local.set(nil)
                }
            }
        }
    }

    @Test func `Law 22: two thread-locals whose instantiators use each other get one value each`()
        async
    {
        await offThePool {
            let first = Box<ThreadLocalValue<Int>?>(nil)
            let second = ThreadLocalValue<Int> { _ in (first.value?.value() ?? 10) + 1 }
            let other = ThreadLocalValue<Int> { _ in (second.value() ?? 100) + 1 }
            first.value = other
            #expect(other.value() == 12)
            #expect(second.value() == 11)
            first.value = nil
        }
    }

    @Test func `Law 22: an instantiator may make and use other thread-locals`() async {
        await offThePool {
            let local = ThreadLocalValue<Int> { _ in
                // So many that the table grows while the instantiator runs.
                let others = (0..<1_000).map { index in ThreadLocalValue<Int> { _ in index } }
                return others.reduce(0) { $0 + $1.value()! }
            }
            #expect(local.value() == 499_500)
            #expect(local.cachedValue() == 499_500)
        }
    }

    @Test func `A stored optional that is nil differs from no value`() async {
        await offThePool {
            for local in Self.kinds("optional") as [ThreadLocalValue<Int?>] {
                #expect(local.cachedValue() == .none)
                local.set(.some(nil))
                #expect(local.cachedValue() == .some(.none))
                #expect(local.value() == .some(.none))
                local.set(5)
                #expect(local.value() == .some(5))
                local.withValue(.some(nil)) { #expect(local.value() == .some(.none)) }
                #expect(local.value() == .some(5))
                local.set(nil)
                #expect(local.value() == .none)
            }
            let made = ThreadLocalValue<Int?> { _ in .some(nil) }
            #expect(made.value() == .some(.none))
            #expect(made.cachedValue() == .some(.none))
        }
    }

    @Test func `withValue sets a value while it runs, even nested, and restores the former one`()
        async
    {
        await offThePool {
            for local in Self.kinds("with") as [ThreadLocalValue<String>] {
                let result = local.withValue("outer") {
                    #expect(local.value() == "outer")
                    local.withValue("inner") {
                        #expect(local.value() == "inner")
                        local.set("changed")
                    }
                    #expect(local.value() == "outer")
                    local.withValue(nil) { #expect(local.cachedValue() == nil) }
                    #expect(local.value() == "outer")
                    local.set(nil)
                    return 3
                }
                #expect(result == 3)
                #expect(local.cachedValue() == nil)
            }
        }
    }

    @Test func `withValue restores the value when its operation throws, and rethrows the error`()
        async
    {
        struct Failure: Error, Equatable { let code: Int }
        await offThePool {
            for local in Self.kinds("throws") as [ThreadLocalValue<Int>] {
                local.set(1)
                do throws(Failure) {
                    try local.withValue(2) { () throws(Failure) in
                        throw Failure(code: local.value()!)
                    }
                } catch {
                    #expect(error == Failure(code: 2))
                }
                #expect(local.value() == 1)
                local.set(nil)
            }
        }
    }

    @Test func `Values of every size and alignment are stored separately`() async {
        struct Large: Equatable { var words = SIMD64<Int64>(repeating: 7); var flag = true }
        await offThePool {
            let large = ThreadLocalValue<Large> { _ in Large() }
            let wide = ThreadLocalValue<SIMD4<Double>> { _ in SIMD4(1, 2, 3, 4) }
            let empty = ThreadLocalValue<Void>()
            let small = ThreadLocalValue<Bool> { _ in true }
            let existential = ThreadLocalValue<any Sendable> { _ in "text" }
            let function = ThreadLocalValue<@Sendable () -> Int> { _ in { 9 } }
            OwnThread.onEach(3) { _ in
                #expect(large.value() == Large() && large.value() == Large())
                #expect(wide.value() == SIMD4(1, 2, 3, 4))
                #expect(empty.value() == nil)
                empty.set(())
                #expect(empty.cachedValue() != nil)
                #expect(small.value() == true)
                #expect(existential.value() as? String == "text")
                #expect(function.value()?() == 9)
            }
        }
    }
}
