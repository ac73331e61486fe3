#if AsyncHTTPClient
import AsyncHTTPClient
import PipelineCore
import Synchronization

/// The clients of a transport that connect through proxies, one for each, created with their first request.
final class ProxyClients: Sendable {
    private typealias Making = Task<AsyncHTTPClientLease, any Error>

    private struct Key: Hashable {
        let route: AsyncHTTPClientTransport.ProxyPolicy.Route
        let name: String
    }

    private let settings: AsyncHTTPClientSettings
    /// The configuration for the connections to the proxies.
    private let relayConfiguration: HTTPClient.Configuration
    /// `nil` after shutdown.
    private let clients = Mutex<[Key: Making]?>([:])

    init(_ settings: AsyncHTTPClientSettings, relay: HTTPClient.Configuration) {
        self.settings = settings
        relayConfiguration = relay
    }

    /// Returns the client for a proxy.
    ///
    /// - Throws: `PipelineError` with code `clientClosed` after shutdown, and `transport` if no relay can be started.
    func client(
        for choice: ProxyChoice,
        _ route: AsyncHTTPClientTransport.ProxyPolicy.Route
    ) async throws -> AsyncHTTPClientLease {
        let key = Key(route: route, name: choice.name)
        let making: Making? = clients.withLock { [settings, relayConfiguration] clients in
            guard clients != nil else { return nil }
            if let making = clients?[key] { return making }
            let making = Making {
                let relay = try await ProxyRelay.start(for: choice, route, relayConfiguration)
                return AsyncHTTPClientLease(makingClientWith: settings, relay: relay)
            }
            clients?[key] = making
            return making
        }
        guard let making else { throw PipelineError(.clientClosed, "the client was shut down") }
        do {
            return try await making.value
        } catch {
            // The next request tries again.
            clients.withLock { clients in
                if clients?[key] == making { clients?[key] = nil }
            }
            throw PipelineError(
                .transport,
                "the connection to \(choice.name) could not be prepared",
                underlyingError: error
            )
        }
    }

    func shutdown() async throws {
        let made = clients.withLock { clients in
            defer { clients = nil }
            return clients.map { Array($0.values) } ?? []
        }
        var failure: (any Error)?
        for making in made {
            do { try await (try? making.value)?.shutdown() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
#endif
