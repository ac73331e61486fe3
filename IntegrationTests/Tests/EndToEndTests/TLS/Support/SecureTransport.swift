import Pipeline
import PipelineTransports
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOSSL
#endif

/// The network transports, configured to trust the certificate authority of the run.
enum SecureTransport: String, CaseIterable, CustomTestStringConvertible {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    /// The transports that can trust the authority on this machine.
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
    /// The default configuration with the authority as the only trust root.
    static func makeConfiguration() throws -> HTTPClient.Configuration {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.tlsConfiguration?.trustRoots = .file(try #require(TLSServers.authority))
        return configuration
    }
}
#endif
