import Pipeline
import TestSupport
import Testing

@Suite("TLS: header fields that never end", .besideTLSServers, .realTime, .watched)
struct TLSHeadTests {
    @Test("G11: over HTTP/2, header fields that arrive byte by byte end after readTimeout or headTimeout in all")
    func drip() async throws {
        let configuration = try SecureTransport.makeConfiguration()
        for transport in [
            AsyncHTTPClientTransport(configuration: configuration, readTimeout: .seconds(1)),
            AsyncHTTPClientTransport(configuration: configuration, headTimeout: .seconds(1), readTimeout: nil),
        ] {
            let provider = Provider<SecureTarget>(transport: transport)
            let error = await provider.failure(SecureTarget(baseURL: TLSServers.url("DRIP"), path: "/"))
            #expect(error?.code == .timeout(.head), "\(String(describing: error?.underlyingError))")
            // The next exchange has another connection, or another stream, and the same end.
            #expect(await provider.failure(SecureTarget(baseURL: TLSServers.url("DRIP"), path: "/")) != nil)
        }
    }
}
