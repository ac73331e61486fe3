/// The transports that use the network, for tests that run with each of them.
package enum NetworkTransport: String, CaseIterable, Sendable {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif
}
