import Pipeline
import PipelineTransports

#if AsyncHTTPClient
import AsyncHTTPClient

extension Transport where Self == AsyncHTTPClientTransport {
    /// A transport with one connection: an exchange that is not closed blocks the next.
    static var withOneConnection: AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        return AsyncHTTPClientTransport(configuration: configuration)
    }
}
#else
#if canImport(FoundationNetworking)
import FoundationNetworking
#else
import Foundation
#endif

extension Transport where Self == URLSessionTransport {
    /// A transport with one connection: an exchange that is not closed blocks the next.
    static var withOneConnection: URLSessionTransport {
        let configuration = URLSessionTransport.makeDefaultConfiguration()
        configuration.httpMaximumConnectionsPerHost = 1
        return URLSessionTransport(configuration: configuration)
    }
}
#endif
