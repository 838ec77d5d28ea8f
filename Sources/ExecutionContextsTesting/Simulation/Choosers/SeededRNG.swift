/// An RNG that a seed determines.
struct SeededRNG {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
        // Consecutive seeds start far apart, not one step.
        state = bits()
    }

    /// The next 64 bits, by the SplitMix generator.
    mutating func bits() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    mutating func below(_ limit: Int) -> Int { Int(truncatingIfNeeded: bits() % UInt64(limit)) }

    /// A random member of a non-empty set of small numbers.
    mutating func one(of set: UInt64) -> Int {
        var rest = set
        for _ in 0..<below(set.nonzeroBitCount) { rest &= rest - 1 }
        return rest.trailingZeroBitCount
    }
}
