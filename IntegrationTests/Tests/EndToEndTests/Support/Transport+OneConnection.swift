import AsyncHTTPClient
import Pipeline

extension Transport where Self == AsyncHTTPClientTransport {
    /// A transport with one connection: an exchange that is not closed blocks the next.
    static var withOneConnection: AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        return AsyncHTTPClientTransport(configuration: configuration)
    }
}
