/// A generator of random numbers, which a seed determines.
package struct SeededRNG: RandomNumberGenerator {
    private var state: UInt64

    /// Neighbouring seeds give unrelated sequences, because the first state is a hash of the seed.
    package init(seed: UInt64) {
        state = seed
        state = next()
    }

    /// The next number of SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from zero to below `bound`.
    package mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
