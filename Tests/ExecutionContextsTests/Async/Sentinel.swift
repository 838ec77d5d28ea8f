/// An object that is counted while it lives: a value, an error or a capture of a closure.
final class Sentinel: Error, Sendable {
    private let count: Box<Int>

    fileprivate init(_ count: Box<Int>) {
        self.count = count
        count.withValue { $0 += 1 }
    }

    deinit { count.withValue { $0 -= 1 } }
}

/// Makes sentinels and counts the living ones.
final class Sentinels: Sendable {
    private let count = Box(0)

    var living: Int { count.value }

    func make() -> Sentinel { Sentinel(count) }
}

/// The error of a test.
struct Oops: Error, Equatable {
    var number = 0
}
