import Pipeline
import PipelineTransports

#if canImport(FoundationNetworking)
import FoundationNetworking
#else
import Foundation
#endif

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

extension NetworkTransport {
    /// Longer than a busy machine takes for anything.
    private static let never = Duration.seconds(300)

    /// A transport whose own timeouts are so short; `nil` stands for those that are long enough never to be met.
    ///
    /// Foundation on Linux counts whole seconds.
    func make(connect: Duration? = nil, read: Duration? = nil, write: Duration? = nil) -> any Transport {
        switch self {
        case .urlSession:
            let configuration = URLSessionTransport.makeDefaultConfiguration()
            let shortest = [connect, read, write].compactMap { $0 }.min() ?? Self.never
            configuration.timeoutIntervalForRequest = (shortest / .seconds(1)).rounded(.up)
            return URLSessionTransport(configuration: configuration)
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
            configuration.timeout.connect = TimeAmount(connect ?? Self.never)
            return AsyncHTTPClientTransport(
                configuration: configuration,
                readTimeout: read ?? Self.never,
                writeTimeout: write ?? Self.never
            )
        #endif
        }
    }
}
