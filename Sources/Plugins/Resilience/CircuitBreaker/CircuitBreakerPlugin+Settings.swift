public import PipelineCore

extension CircuitBreakerPlugin {
    /// The outcomes that a closed circuit counts.
    public struct Window: Sendable, Hashable {
        let rule: CircuitRules.Window

        /// The outcomes of the latest calls, however old they are; `callCount` is their number, `1...10,000`.
        public static func count(_ callCount: Int) -> Window {
            precondition((1...10_000).contains(callCount), "callCount is \(callCount), not in 1...10,000")
            return Window(rule: .count(callCount))
        }

        /// The outcomes within a duration of one second to one hour, however many they are.
        ///
        /// The window moves in tenths of its length.
        public static func time(_ duration: Duration) -> Window {
            precondition(
                (.seconds(1) ... .seconds(3_600)).contains(duration),
                "duration is \(duration), not between a second and an hour"
            )
            return Window(rule: .time(duration))
        }
    }

    /// What an outcome says about the server.
    public struct Verdict: Sendable, Hashable {
        let ending: Circuit.Ending

        /// The outcome shows that the server works.
        public static let success = Verdict(ending: .success)
        /// The outcome shows that the server does not work.
        public static let failure = Verdict(ending: .failure)
        /// The outcome is not counted; a probe returns its permit.
        public static let ignored = Verdict(ending: .ignored)
    }

    /// A change of the state of a circuit.
    public struct StateChange: Sendable, Hashable {
        /// The origin of the circuit, such as `https://a.test`; `nil` for a partition with a key of its own, which may
        /// be a secret.
        public let partition: String?
        /// The state before the change.
        public let oldState: CircuitState
        /// The state after the change.
        public let newState: CircuitState
        /// When the state changed, on the clock of the calls; `nil` if it was changed by hand before the first call.
        public let moment: PipelineClock.Instant?
    }
}
