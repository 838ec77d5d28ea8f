/// Random numbers that a seed decides.
package struct Dice: RandomNumberGenerator {
    private var state: UInt64

    /// Neighbouring seeds have nothing in common: each begins where a number made of it says.
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

    /// A number from zero to below `sides`.
    package mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }
}
