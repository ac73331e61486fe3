public import PipelineCore

extension RetryPlugin {
    /// How long a retry waits for a network if the machine has none.
    ///
    /// ```swift
    /// RetryPlugin(connectivityWait: .on)
    /// try await provider.request(.sync, options: .init { $0.retry = .init(connectivityWait: .upTo(.seconds(300))) })
    /// ```
    public struct ConnectivityWait: Sendable {
        private let limit: Duration
        private let connectivity: Connectivity

        /// Does not wait for a network; each retry follows after the backoff.
        public static let off = ConnectivityWait(limit: .zero, connectivity: .system)

        /// Waits up to 60 s for the network of the machine.
        public static let on = upTo(.seconds(60))

        /// Returns a setting that waits for a network up to a limit.
        ///
        /// - Parameters:
        ///   - limit: the longest wait before one retry, more than zero.
        ///   - connectivity: the source that reports whether a network is available.
        /// - Returns: the wait.
        public static func upTo(_ limit: Duration, of connectivity: Connectivity = .system) -> ConnectivityWait {
            precondition(limit > .zero, "limit is \(limit), not more than zero")
            return ConnectivityWait(limit: limit, connectivity: connectivity)
        }

        var isOn: Bool { limit > .zero }

        /// The time that a response needs to return through the outer plugins.
        private static let leeway = Duration.milliseconds(50)

        /// Waits until a network is available, no longer than the limit and the deadline of the call allow.
        func run(_ context: PipelineContext) async throws -> Connectivity.Outcome {
            let clock = context.clock
            var end = clock.now.advanced(by: limit)
            if let deadline = context.latestDeadline { end = min(end, deadline.advanced(by: .zero - Self.leeway)) }
            guard clock.now < end else { return .available }
            return try await connectivity.wait(until: end, on: clock)
        }
    }
}
