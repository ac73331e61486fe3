package import Pipeline
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
    /// Makes a transport with these timeouts; `nil` means a timeout that no test reaches.
    ///
    /// Foundation on Linux counts whole seconds.
    package func make(connect: Duration? = nil, read: Duration? = nil, write: Duration? = nil) -> any Transport {
        switch self {
        case .urlSession:
            let configuration = URLSessionTransport.makeDefaultConfiguration()
            if let shortest = [connect, read, write].compactMap({ $0 }).min() {
                configuration.timeoutIntervalForRequest = (shortest / .seconds(1)).rounded(.up)
            }
            return URLSessionTransport(configuration: configuration)
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            // Longer than any step takes on a busy machine.
            let never = Duration.seconds(300)
            var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
            configuration.timeout.connect = TimeAmount(connect ?? never)
            return AsyncHTTPClientTransport(
                configuration: configuration,
                readTimeout: read ?? never,
                writeTimeout: write ?? never
            )
        #endif
        }
    }
}
