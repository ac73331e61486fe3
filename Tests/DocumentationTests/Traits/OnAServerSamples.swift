import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

#if AsyncHTTPClient
// sample: transport
func makeTransport(trust: TrustPolicy = .system) -> AsyncHTTPClientTransport {
    var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
    configuration.timeout.connect = .seconds(2)
    return AsyncHTTPClientTransport(configuration: configuration, connectionsPerHost: 16, trust: trust)
}
// end
#endif

@Suite("The samples of the guide OnAServer", .realTime, .watched)
struct OnAServerSamplesTests {
    private typealias Shop = TargetsSamples.Shop

    #if AsyncHTTPClient
    @Test("Calls of all providers with the transport fail after its shutdown")
    func client() async throws {
        let transport = makeTransport()
        let shop = Provider<Shop>(transport: transport)
        let pages = Provider<URLTarget>(transport: transport)
        #expect("\(shop.explain())".contains("AsyncHTTPClientTransport"))
        try await transport.shutdown()
        let options = RequestOptions { $0.avoidLogError = true }
        let first = await #expect(throws: PipelineError.self) {
            try await shop.request(.item(id: 7), options: options)
        }
        let second = await #expect(throws: PipelineError.self) {
            try await pages.request(URLTarget("https://api.shop.example/v1/items/7"))
        }
        #expect(first?.code == .clientClosed)
        #expect(second?.code == .clientClosed)
    }
    #endif
}
