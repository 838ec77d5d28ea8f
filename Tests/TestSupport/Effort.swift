import Foundation

// Debug builds run each test on few cases, so that the whole suite takes less than a minute.
// Release builds run it on more, and with `EXECUTION_CONTEXTS_LONG=1` on many.

/// Whether tests run at full length.
package let isLongRun = ProcessInfo.processInfo.environment["EXECUTION_CONTEXTS_LONG"] == "1"

/// The number of rounds of a race: debug builds find common faults, release builds rare ones.
package func rounds(debug: Int, release: Int) -> Int {
    #if DEBUG
    debug
    #else
    release
    #endif
}

/// All cases in release builds and long runs; in debug builds every `n`-th one, from `offset` on.
package func sample<Case>(_ cases: [Case], every n: Int, from offset: Int = 0) -> [Case] {
    let n = isLongRun ? 1 : rounds(debug: n, release: 1)
    return stride(from: n == 1 ? 0 : offset, to: cases.count, by: n).map { cases[$0] }
}

/// The seeds that a test draws its cases from; twenty times as many in a long run.
package func seeds(debug: Int, release: Int) -> Range<UInt64> {
    0..<UInt64(rounds(debug: debug, release: release) * (isLongRun ? 20 : 1))
}
