import AsyncHTTPClient
import NIOSSL
import Pipeline
import Testing

/// The network transports, configured to trust the certificate authority of the run.
enum SecureTransport: String, CaseIterable, CustomTestStringConvertible {
    case urlSession
    case asyncHTTPClient

    /// The transports that can trust the authority on this machine.
    static var trusting: [SecureTransport] {
        allCases.filter { $0 != .urlSession || TLSServers.isTrustedBySystem }
    }

    func make() throws -> any Transport {
        switch self {
        case .urlSession: URLSessionTransport()
        case .asyncHTTPClient: AsyncHTTPClientTransport(configuration: try Self.makeConfiguration())
        }
    }

    var testDescription: String { rawValue }
}

extension SecureTransport {
    /// The default configuration with the authority as the only trust root.
    static func makeConfiguration() throws -> HTTPClient.Configuration {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.tlsConfiguration?.trustRoots = .file(try #require(TLSServers.authority))
        return configuration
    }
}
