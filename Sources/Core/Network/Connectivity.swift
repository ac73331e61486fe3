#if canImport(Network)
import Dispatch
import Network
#endif

/// A source that reports whether the machine has a network.
///
/// ```swift
/// RetryPlugin(connectivityWait: .upTo(.seconds(30)))
/// RetryPlugin(connectivityWait: .upTo(.seconds(30), of: Connectivity { reachability.isOnline }))
/// ```
public struct Connectivity: Sendable {
    /// The outcome of a wait for a network.
    public enum Outcome: Sendable, Hashable {
        /// A network was already available.
        case available
        /// A network became available during the wait.
        case restored
        /// No network became available before the deadline.
        case unavailable
    }

    private let wait: @Sendable (PipelineClock.Instant, PipelineClock) async throws -> Outcome

    private init(wait: @escaping @Sendable (PipelineClock.Instant, PipelineClock) async throws -> Outcome) {
        self.wait = wait
    }

    /// Creates a source that is polled at regular intervals while a call waits.
    ///
    /// - Parameters:
    ///   - interval: the time between two checks; must be greater than zero. Defaults to 1 s.
    ///   - isAvailable: returns whether a network is available. It must return quickly.
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
    ///   - deadline: the time at which the wait ends at the latest.
    ///   - clock: the clock of the deadline.
    /// - Returns: the outcome of the wait.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func wait(until deadline: PipelineClock.Instant, on clock: PipelineClock) async throws -> Outcome {
        try await wait(deadline, clock)
    }
}

extension Connectivity {
    /// The network of the machine, observed with `NWPathMonitor` on Apple platforms.
    ///
    /// On other platforms, the network interfaces are checked once per second. A network is available while an
    /// interface other than loopback is up, has a carrier and has an IP address.
    ///
    public static let system = ofSystem

    #if canImport(Network)
    private static let ofSystem = Connectivity { deadline, clock in
        do {
            let timeout = PipelineError(.offline, "no network was available in time")
            return try await clock.run(until: deadline, throwing: timeout) {
                try await Connectivity.waitForPath(NWPathMonitor())
            }
        } catch let error as PipelineError where error.code == .offline {
            return .unavailable
        }
    }

    /// Waits for a path that a monitor reports; the monitor must not have been started.
    static func waitForPath(_ monitor: NWPathMonitor) async throws -> Outcome {
        // Not a loop over the monitor itself, whose documentation does not say that it ends when the task is cancelled.
        let (paths, continuation) = AsyncStream<NWPath>.makeStream()
        monitor.pathUpdateHandler = { continuation.yield($0) }
        monitor.start(queue: DispatchQueue(label: "pipeline.connectivity"))
        defer { monitor.cancel() }
        var outcome = Outcome.available
        for await path in paths {
            // A path that requires a connection, such as an on-demand VPN, is established by the request.
            if path.status != .unsatisfied { return outcome }
            outcome = .restored
        }
        // The sequence ends when the task is cancelled.
        try Task.checkCancellation()
        return .available
    }
    #else
    private static let ofSystem = Connectivity(isAvailable: NetworkInterfaces.hasNetwork)
    #endif
}
