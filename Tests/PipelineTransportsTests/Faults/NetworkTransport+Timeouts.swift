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
    /// A transport whose own timeouts are so short; `nil` stands for those that are long enough never to be met.
    ///
    /// Foundation on Linux counts whole seconds.
    func make(connect: Duration? = nil, read: Duration? = nil, write: Duration? = nil) -> any Transport {
        switch self {
        case .urlSession:
            let configuration = URLSessionTransport.makeDefaultConfiguration()
            if let shortest = [connect, read, write].compactMap({ $0 }).min() {
                configuration.timeoutIntervalForRequest = (shortest / .seconds(1)).rounded(.up)
            }
            return URLSessionTransport(configuration: configuration)
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
            if let connect { configuration.timeout.connect = TimeAmount(connect) }
            return AsyncHTTPClientTransport(
                configuration: configuration,
                readTimeout: read ?? .seconds(60),
                writeTimeout: write ?? .seconds(60)
            )
        #endif
        }
    }
}
