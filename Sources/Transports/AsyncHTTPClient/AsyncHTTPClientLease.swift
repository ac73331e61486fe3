#if AsyncHTTPClient
import AsyncHTTPClient

/// A client, and whether it ends with the last one who holds it.
final class AsyncHTTPClientLease: Sendable {
    let client: HTTPClient
    private let endsClient: Bool

    /// Whether it is a client of the transport's own, which marks what happens to its connections.
    var marksConnections: Bool { endsClient }

    init(_ client: HTTPClient, endsClient: Bool) {
        self.client = client
        self.endsClient = endsClient
    }

    deinit {
        guard endsClient else { return }
        // A client that was shut down before says so; it keeps itself until it has ended.
        Task { [client] in try? await client.shutdown() }
    }

    func shutdown() async throws {
        guard endsClient else { return }
        do {
            try await client.shutdown()
        } catch let error as HTTPClientError where error == .alreadyShutdown {}
    }
}
#endif
