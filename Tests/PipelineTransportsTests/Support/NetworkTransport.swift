import Pipeline
import PipelineTransports
import Testing

/// The transports that use the network, for tests of what all of them have to do.
enum NetworkTransport: String, CaseIterable, CustomTestStringConvertible {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    func make() -> any Transport {
        switch self {
        case .urlSession: URLSessionTransport()
        #if AsyncHTTPClient
        case .asyncHTTPClient: AsyncHTTPClientTransport()
        #endif
        }
    }

    var testDescription: String { rawValue }
}
