import Synchronization

/// A source of random numbers that can be replaced to make tests repeatable.
///
/// Copies share the generator.
public struct PipelineRandom: RandomNumberGenerator, Sendable {
    private let makeNext: @Sendable () -> UInt64

    /// The random number generator of the system.
    public static let system = PipelineRandom {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    private init(makeNext: @escaping @Sendable () -> UInt64) {
        self.makeNext = makeNext
    }

    /// Returns a generator that repeats its sequence for the same seed (SplitMix64); for tests, not for secrets.
    public static func seeded(_ seed: UInt64) -> PipelineRandom {
        let state = SeededState(seed)
        return PipelineRandom { state.next() }
    }

    /// Returns the next random number.
    public func next() -> UInt64 { makeNext() }
}

private final class SeededState: Sendable {
    private let state: Mutex<UInt64>

    init(_ seed: UInt64) {
        state = Mutex(seed)
    }

    func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }
}
