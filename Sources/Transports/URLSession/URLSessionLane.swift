import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session and its delegate.
///
/// Sessions share no connections. Within a session, a connection of HTTP/2 may also serve another host that its
/// certificate names, and the platform does not ask about that host again.
struct URLSessionLane: Sendable {
    let session: URLSession
    let exchanges: URLSessionExchanges

    init(_ configuration: URLSessionConfiguration, _ exchanges: URLSessionExchanges) {
        self.exchanges = exchanges
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: exchanges.queue)
    }
}
