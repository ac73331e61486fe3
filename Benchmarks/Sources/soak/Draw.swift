/// A source of reproducible random numbers.
///
/// The same seed, index and purpose always give the same number.
struct Draw: Sendable {
    private let state: UInt64

    init(seed: UInt64, index: Int) {
        state = Self.mix(seed &+ 0x9e37_79b9_7f4a_7c15 &* UInt64(truncatingIfNeeded: index &+ 1))
    }

    /// Returns a number from zero up to, but not including, the bound.
    func number(_ purpose: UInt64, below bound: Int) -> Int {
        Int(Self.mix(state ^ Self.mix(purpose)) % UInt64(bound))
    }

    /// Applies the last step of SplitMix64.
    static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
