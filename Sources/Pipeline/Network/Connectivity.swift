#if canImport(Network)
import Network
#endif

/// A source that says whether the machine has a network.
///
/// ```swift
/// RetryPlugin(connectivityWait: .upTo(.seconds(30)))
/// RetryPlugin(connectivityWait: .upTo(.seconds(30), of: Connectivity { reachability.isOnline }))
/// ```
public struct Connectivity: Sendable {
    /// How a wait for a network ended.
    public enum Outcome: Sendable, Hashable {
        /// A network was available at once.
        case available
        /// A network became available.
        case restored
        /// No network was available in time.
        case unavailable
    }

    private let wait: @Sendable (PipelineClock.Instant, PipelineClock) async throws -> Outcome

    private init(wait: @escaping @Sendable (PipelineClock.Instant, PipelineClock) async throws -> Outcome) {
        self.wait = wait
    }

    /// Makes a source that is asked at regular intervals while a call waits.
    ///
    /// - Parameters:
    ///   - interval: the time between two questions, more than zero. Defaults to 1 s.
    ///   - isAvailable: returns whether a network is available. It must be quick.
    public init(checkedEvery interval: Duration = .seconds(1), isAvailable: @escaping @Sendable () -> Bool) {
        precondition(interval > .zero, "interval is \(interval), not more than zero")
        self.init { deadline, clock in
            if isAvailable() { return .available }
            while clock.now < deadline {
                try await clock.sleep(until: min(clock.now.advanced(by: interval), deadline))
                if isAvailable() { return .restored }
            }
            return .unavailable
        }
    }

    /// Waits until a network is available.
    ///
    /// - Parameters:
    ///   - deadline: when the wait ends at the latest.
    ///   - clock: the clock of the deadline.
    /// - Returns: how the wait ended.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func wait(until deadline: PipelineClock.Instant, on clock: PipelineClock) async throws -> Outcome {
        try await wait(deadline, clock)
    }
}

extension Connectivity {
    #if canImport(Network)
    /// The network of the machine: on Apple platforms `NWPathMonitor`, elsewhere a look at the network interfaces once per second.
    ///
    /// Elsewhere, a network is available while an interface other than loopback is up, has a carrier and has an IP address.
    public static let system = Connectivity { deadline, clock in
        do {
            let timeout = PipelineError(.offline, "no network was available in time")
            return try await clock.run(until: deadline, throwing: timeout) { try await Connectivity.waitForPath() }
        } catch let error as PipelineError where error.code == .offline {
            return .unavailable
        }
    }

    private static func waitForPath() async throws -> Outcome {
        var outcome = Outcome.available
        for await path in NWPathMonitor() {
            // A path that requires a connection, such as a VPN on demand, is established by the request.
            if path.status != .unsatisfied { return outcome }
            outcome = .restored
        }
        // The sequence ends when the task is cancelled.
        try Task.checkCancellation()
        return .available
    }
    #else
    /// The network of the machine: on Apple platforms `NWPathMonitor`, elsewhere a look at the network interfaces once per second.
    ///
    /// Elsewhere, a network is available while an interface other than loopback is up, has a carrier and has an IP address.
    public static let system = Connectivity(isAvailable: NetworkInterfaces.hasNetwork)
    #endif
}
