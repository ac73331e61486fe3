import AsyncHTTPClient
import Foundation
import NIOSSL
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport, requests that an HTTP/2 server refuses", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientRefusalTests {
    private static var configuration: HTTPClient.Configuration {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.tlsConfiguration?.certificateVerification = .none
        return configuration
    }

    private static func target(_ server: HTTP2Server, _ body: PipelineBody) throws -> Probe {
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)"))
        return Probe(url, method: .post, task: .requestStream(body))
    }

    private static func body(_ byteCount: Int) -> PipelineBody { .bytes(Data(count: byteCount)) }

    @Test(
        "N01: a POST that the server refuses is sent a second time and processed once, within one exchange",
        arguments: [0, 10, 30_000],
        [HTTP2Server.Reaction.refuse, .goAway]
    )
    func once(byteCount: Int, reaction: HTTP2Server.Reaction) async throws {
        let server = try HTTP2Server(.respond, reaction)
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport(configuration: Self.configuration)
        let provider = Provider<Probe>(transport: transport)
        _ = try await provider.request(Self.target(server, Self.body(1)))
        let response = try await provider.request(Self.target(server, Self.body(byteCount)))
        #expect(response.statusCode == 200)
        #expect(response.exchanges.count == 1)
        #expect(server.processed.map(\.bodyByteCount) == [1, byteCount])
        #expect(server.processed.map(\.connection) == [0, 1])
        try await transport.shutdown()
    }

    @Test(
        "N01: with a shared client, a refused POST is sent a second time; after a GOAWAY only with our configuration",
        arguments: [HTTP2Server.Reaction.refuse, .goAway],
        [true, false]
    )
    func shared(reaction: HTTP2Server.Reaction, isOurs: Bool) async throws {
        let server = try HTTP2Server(reaction)
        defer { server.stop() }
        var configuration = Self.configuration
        if !isOurs {
            configuration = HTTPClient.Configuration(certificateVerification: .none)
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(client: client))
        let target = try Self.target(server, Self.body(10))
        if reaction == .refuse || isOurs {
            let response = try await provider.request(target)
            #expect(response.statusCode == 200)
            #expect(server.processed.map(\.bodyByteCount) == [10])
        } else {
            // Without the handler of the configuration, nothing says which streams the GOAWAY is about.
            let error = try await provider.failure(target)
            #expect(error?.code == .connectionLost)
            #expect(error?.reason.contains("process") == false)
            #expect(server.processed.isEmpty)
        }
        try await client.shutdown()
    }

    @Test("N01: a second refusal, or that of a body that can be read once, fails and says that nothing was processed")
    func notAgain() async throws {
        for (isOneShot, second) in [(false, HTTP2Server.Reaction.goAway), (true, .respond)] {
            let server = try HTTP2Server(.refuse, second)
            defer { server.stop() }
            let transport = AsyncHTTPClientTransport(configuration: Self.configuration)
            let provider = Provider<Probe>(transport: transport)
            let chunks = AsyncStream<Data> { continuation in
                continuation.yield(Data(count: 10))
                continuation.finish()
            }
            let body = isOneShot ? PipelineBody.stream(chunks) : Self.body(10)
            let error = try await provider.failure(Self.target(server, body))
            #expect(error?.code == .connectionLost)
            #expect(error?.reason.contains("did not process any part of it") == true)
            #expect(server.processed.isEmpty)
            try await transport.shutdown()
        }
    }

    @Test("N01: a POST whose stream is reset for another reason is not sent again")
    func cancelled() async throws {
        let server = try HTTP2Server(.cancel)
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport(configuration: Self.configuration)
        let error = try await Provider<Probe>(transport: transport).failure(Self.target(server, Self.body(10)))
        #expect(error?.code == .connectionLost)
        #expect(error?.reason.contains("process") == false)
        #expect(server.processed.isEmpty)
        try await transport.shutdown()
    }
}
