import Testing

/// The transports that use the network, for tests of what all of them have to do.
enum NetworkTransport: String, CaseIterable, CustomTestStringConvertible {
    case urlSession
    #if AsyncHTTPClient
    case asyncHTTPClient
    #endif

    var testDescription: String { rawValue }
}
