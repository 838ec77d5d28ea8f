internal import Synchronization

/// What an operation orders.
enum MemoryOrder {
    case relaxed, acquiring, releasing, acquiringAndReleasing, total

    var acquires: Bool { self == .acquiring || self == .acquiringAndReleasing || isTotal }
    var releases: Bool { self == .releasing || self == .acquiringAndReleasing || isTotal }
    /// Whether it has a place in the one order of all sequentially consistent operations.
    var isTotal: Bool { self == .total }

    /// The order of a failing exchange, which only loads.
    var ofLoad: MemoryOrder {
        isTotal ? .total : acquires ? .acquiring : .relaxed
    }

    init(_ order: AtomicLoadOrdering) {
        self = order == .relaxed ? .relaxed : order == .acquiring ? .acquiring : .total
    }

    init(_ order: AtomicStoreOrdering) {
        self = order == .relaxed ? .relaxed : order == .releasing ? .releasing : .total
    }

    init(_ order: AtomicUpdateOrdering) {
        self =
            switch order {
            case .relaxed: .relaxed
            case .acquiring: .acquiring
            case .releasing: .releasing
            case .acquiringAndReleasing: .acquiringAndReleasing
            default: .total
            }
    }
}
