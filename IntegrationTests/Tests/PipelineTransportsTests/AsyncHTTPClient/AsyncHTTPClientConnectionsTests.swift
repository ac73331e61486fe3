import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport: guarded connections", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientConnectionsTests {
    /// A response with this status would crash the process if AsyncHTTPClient saw it.
    private static let low = "HTTP/1.1 099 Low\r\nContent-Length: 5\r\n\r\nhello"

    @Test("H07: connections of a shared client with the default configuration are guarded")
    func sharedClient() async throws {
        let configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        let bench = try FramingBench(AsyncHTTPClientTransport(client: client), [.send(Self.low)])
        #expect(try await bench.outcome() == .failure(.malformedResponse))
        try await bench.checkNextCall()
        try await client.shutdown()
    }

    @Test("H07: connections of a custom configuration are guarded, and its initializer is called")
    func ownConfiguration() async throws {
        let calls = Mutex(0)
        let configuration = HTTPClient.Configuration(http1_1ConnectionDebugInitializer: { channel in
            calls.withLock { $0 += 1 }
            return channel.eventLoop.makeSucceededVoidFuture()
        })
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        let bench = try FramingBench(transport, [.send(Self.low)])
        #expect(try await bench.outcome() == .failure(.malformedResponse))
        try await bench.checkNextCall()
        #expect(calls.withLock { $0 } == bench.server.activity.connectionCount)
        try await transport.shutdown()
    }
}
