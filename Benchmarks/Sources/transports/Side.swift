import AsyncHTTPClient
import Foundation
import Pipeline
import PipelineTransports

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One way to send a request.
struct Side: Sendable {
    struct WrongAnswer: Error {}

    /// Sends a request for a page, and checks that all of it came.
    let send: @Sendable (_ byteCount: Int) async throws -> Void

    static func require(_ isRight: Bool) throws {
        guard isRight else { throw WrongAnswer() }
    }
}

/// A client called directly, and the pipeline over a transport that has another one of the same configuration.
struct Contest: Sendable {
    let name: String
    /// Directly, without plugins, and with the plugins of ``Page``.
    let sides: [Side]

    static func asyncHTTPClient(connections: Int?) -> Contest {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        if let connections { configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections }
        let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        let direct = Side { byteCount in
            var request = HTTPClientRequest(url: "\(Page.url)/\(byteCount)")
            for (name, value) in Page.fields { request.headers.add(name: name, value: value) }
            let response = try await client.execute(request, deadline: .distantFuture)
            let body = try await response.body.collect(upTo: 64 << 20)
            try Side.require(response.status == .ok && body.readableBytes == byteCount)
        }
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        return Contest(name: "AsyncHTTPClient", sides: [direct] + pipeline(over: transport))
    }

    static func urlSession() -> Contest {
        let session = URLSession(configuration: URLSessionTransport.makeDefaultConfiguration())
        let direct = Side { byteCount in
            guard let url = URL(string: "\(Page.url)/\(byteCount)") else { throw URLError(.badURL) }
            var request = URLRequest(url: url)
            for (name, value) in Page.fields { request.setValue(value, forHTTPHeaderField: name) }
            // On Linux this must not be cancelled; here nobody does.
            let (data, response) = try await session.data(for: request)
            try Side.require((response as? HTTPURLResponse)?.statusCode == 200 && data.count == byteCount)
        }
        return Contest(name: "URLSession", sides: [direct] + pipeline(over: URLSessionTransport()))
    }

    private static func pipeline(over transport: some Transport) -> [Side] {
        let plain = Provider<PlainPage>(transport: transport)
        let provider = Provider<Page>(transport: transport, plugins: Page.plugins)
        return [
            Side { byteCount in
                let response = try await plain.request(PlainPage(page: Page(byteCount: byteCount)))
                try Side.require(response.statusCode == 200 && response.data.count == byteCount)
            },
            Side { byteCount in
                let response = try await provider.request(Page(byteCount: byteCount))
                try Side.require(response.statusCode == 200 && response.data.count == byteCount)
            },
        ]
    }
}
