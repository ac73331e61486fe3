public import PipelineCore
import PipelineTransports

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// The network side of a provider, with the name of Alamofire's session.
@available(swift, deprecated: 7, message: "Pass a URLSessionTransport as the transport.")
// Its properties are constants; the configuration is a copy that nothing changes.
open class Session: @unchecked Sendable {
    /// The transport of the native provider.
    public let transport: any Transport

    /// The configuration of the session; with a transport of your own, Foundation's default configuration, unused.
    public let sessionConfiguration: URLSessionConfiguration

    /// Creates a session that sends requests with a `URLSessionTransport`.
    ///
    /// - Parameters:
    ///   - configuration: how the session connects; it is copied.
    ///   - startRequestsImmediately: is ignored, because requests always start at once.
    public init(configuration: URLSessionConfiguration = .default, startRequestsImmediately: Bool = true) {
        transport = URLSessionTransport(configuration: configuration)
        sessionConfiguration = configuration.copy() as? URLSessionConfiguration ?? configuration
    }

    /// Creates a session that sends requests with a transport.
    public init(transport: any Transport) {
        self.transport = transport
        sessionConfiguration = .default
    }

    /// The header fields that the configuration adds to every request.
    var headers: [String: String] {
        sessionConfiguration.httpAdditionalHeaders as? [String: String] ?? [:]
    }
}
