/// The transports that use the network, for tests of what all of them have to do.
package enum NetworkTransport: String, CaseIterable, Sendable {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif
}
