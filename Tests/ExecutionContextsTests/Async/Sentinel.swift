/// An object that is counted as long as it lives; as a value, as an error or as what a closure captures.
final class Sentinel: Error, Sendable {
    private let count: Box<Int>

    fileprivate init(_ count: Box<Int>) {
        self.count = count
        count.withValue { $0 += 1 }
    }

    deinit { count.withValue { $0 -= 1 } }
}

/// Makes sentinels, and knows how many of them live.
final class Sentinels: Sendable {
    private let count = Box(0)

    var living: Int { count.value }

    func make() -> Sentinel { Sentinel(count) }
}

/// The error of a test.
struct Oops: Error, Equatable {
    var number = 0
}
