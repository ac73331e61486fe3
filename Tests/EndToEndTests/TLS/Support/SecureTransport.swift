import Pipeline
import PipelineTransports
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOSSL
#endif

/// The transports that use the network, made so that they trust the authority of the run.
enum SecureTransport: String, CaseIterable, CustomTestStringConvertible {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    /// Those that can trust it here.
    static var trusting: [SecureTransport] {
        allCases.filter { $0 != .urlSession || TLSServers.isTrustedBySystem }
    }

    func make() throws -> any Transport {
        switch self {
        case .urlSession: URLSessionTransport()
        #if AsyncHTTPClient
        case .asyncHTTPClient: AsyncHTTPClientTransport(configuration: try Self.makeConfiguration())
        #endif
        }
    }

    var testDescription: String { rawValue }
}

#if AsyncHTTPClient
extension SecureTransport {
    /// The default configuration with the authority as the one that is trusted.
    static func makeConfiguration() throws -> HTTPClient.Configuration {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.tlsConfiguration?.trustRoots = .file(try #require(TLSServers.authority))
        return configuration
    }
}
#endif
