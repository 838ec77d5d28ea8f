import ExecutionContexts
import Foundation

/// Thread-local values beside `threadDictionary`, and beside the system's keys.
///
/// Every loop passes the value it has read to `look`, which is opaque to the optimizer. So the
/// reads are neither merged nor hoisted out of the loop, and the call costs both sides the same.
enum ThreadLocalBenchmarks {
    static func run(_ bench: Bench) {
        numbers(bench)
        objects(bench)
        setting(bench)
        others(bench)
    }

    private static func numbers(_ bench: Bench) {
        let local = ThreadLocalValue<Int> { _ in 1 }
        let count = bench.count(10_000_000)
        var key = pthread_key_t()
        _ = unsafe pthread_key_create(&key, nil)
        _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
        bench.compare(
            "get Int beside pthread_getspecific", operations: count, bar: ">= 2",
            ours: { for _ in 0..<count { look(local.value()!) } },
            theirs: {
                for _ in 0..<count { unsafe look(Int(bitPattern: pthread_getspecific(key))) }
            })
        compareWithDictionary(
            bench, "get Int", bar: ">= 100", { look(local.value()!) },
            { look((Thread.current.threadDictionary["bench"] as? Int)!) }, value: 1)
    }

    /// Measures objects. The retain for the caller and the caller's release are atomic operations.
    private static func objects(_ bench: Bench) {
        let object = Counter()
        let local = ThreadLocalValue<Counter> { _ in Counter() }
        let count = bench.count(10_000_000)
        var key = pthread_key_t()
        _ = unsafe pthread_key_create(&key, nil)
        _ = unsafe pthread_setspecific(key, Unmanaged.passRetained(object).toOpaque())
        bench.compare(
            "get an object beside pthread_getspecific", operations: count,
            ours: { for _ in 0..<count { look(local.value()!.value) } },
            theirs: {
                for _ in 0..<count {
                    let pointer = unsafe pthread_getspecific(key)!
                    unsafe look(Unmanaged<Counter>.fromOpaque(pointer).takeUnretainedValue().value)
                }
            })
        compareWithDictionary(
            bench, "get an object", { look(local.value()!.value) },
            { look((Thread.current.threadDictionary["bench"] as? Counter)!.value) },
            value: object)
    }

    private static func setting(_ bench: Bench) {
        let number = ThreadLocalValue<Int>()
        compareWithDictionary(
            bench, "set Int", bar: ">= 100", { number.set(look(1)) },
            { Thread.current.threadDictionary["bench"] = look(1) }, value: 1)
        let object = Counter()
        let local = ThreadLocalValue<Counter>()
        compareWithDictionary(
            bench, "set an object", { local.set(object) },
            { Thread.current.threadDictionary["bench"] = object }, value: object)
    }

    private static func others(_ bench: Bench) {
        let local = ThreadLocalValue<Int> { _ in 1 }
        let count = bench.count(2_000_000)
        bench.compare(
            "get Int beside TaskLocal", operations: count,
            ours: { for _ in 0..<count { look(local.value()!) } },
            theirs: { for _ in 0..<count { look(Task.number) } })
        let keyed = ThreadLocalValue<Int>(namespace: "bench", key: "keyed") { _ in 1 }
        compareWithDictionary(
            bench, "get Int, with a key", times: 1, { look(keyed.value()!) },
            { look((Thread.current.threadDictionary["bench"] as? Int)!) }, value: 1)
        let fresh = bench.count(200_000)
        bench.compare(
            "make, set, get and drop, beside pthread keys", operations: fresh,
            ours: {
                for _ in 0..<fresh {
                    let local = ThreadLocalValue<Int>()
                    local.set(look(1))
                    look(local.value()!)
                }
            },
            theirs: {
                for _ in 0..<fresh {
                    var key = pthread_key_t()
                    _ = unsafe pthread_key_create(&key, nil)
                    _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: look(1)))
                    unsafe look(Int(bitPattern: pthread_getspecific(key)))
                    pthread_key_delete(key)
                }
            })
    }

    /// Compares `ours`, run `times` as often, with the dictionary, which is far slower.
    ///
    /// Both figures are for one operation.
    private static func compareWithDictionary(
        _ bench: Bench, _ name: String, bar: String = "", times: Int = 50, _ ours: () -> Void,
        _ theirs: () -> Void, value: Any
    ) {
        Thread.current.threadDictionary["bench"] = value
        defer { Thread.current.threadDictionary["bench"] = nil }
        let count = bench.count(200_000)
        bench.compareMeasured(
            "\(name) beside threadDictionary", operations: count, bar: bar,
            ours: { time { for _ in 0..<count * times { ours() } } / UInt64(times) },
            theirs: { time { for _ in 0..<count { theirs() } } })
    }
}

private enum Task {
    @TaskLocal static var number = 1
}

/// The optimizer assumes nothing about this function's use of the value or about its side effects.
@discardableResult @inline(never) @_optimize(none)
private func look(_ value: Int) -> Int { value }
