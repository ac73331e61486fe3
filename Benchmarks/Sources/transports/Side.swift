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

    static func asyncHTTPClient(_ url: String, connections: Int?) throws -> Contest {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        if let connections { configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections }
        let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        let direct = Side { byteCount in
            var request = HTTPClientRequest(url: "\(url)/\(byteCount)")
            for (name, value) in Page.fields { request.headers.add(name: name, value: value) }
            let response = try await client.execute(request, deadline: .distantFuture)
            let body = try await response.body.collect(upTo: 64 << 20)
            try Side.require(response.status == .ok && body.readableBytes == byteCount)
        }
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        return Contest(name: "AsyncHTTPClient", sides: [direct] + (try pipeline(url, over: transport)))
    }

    static func urlSession(_ url: String) throws -> Contest {
        let session = URLSession(configuration: URLSessionTransport.makeDefaultConfiguration())
        let base = try base(url)
        let direct = Side { byteCount in
            var request = URLRequest(url: base.appendingPathComponent("\(byteCount)"))
            for (name, value) in Page.fields { request.setValue(value, forHTTPHeaderField: name) }
            // On Linux this must not be cancelled; here nobody does.
            let (data, response) = try await session.data(for: request)
            try Side.require((response as? HTTPURLResponse)?.statusCode == 200 && data.count == byteCount)
        }
        return Contest(name: "URLSession", sides: [direct] + (try pipeline(url, over: URLSessionTransport())))
    }

    private static func pipeline(_ url: String, over transport: some Transport) throws -> [Side] {
        let base = try base(url)
        let plain = Provider<PlainPage>(transport: transport)
        let provider = Provider<Page>(transport: transport, plugins: Page.plugins)
        return [
            Side { byteCount in
                let page = Page(baseURL: base, byteCount: byteCount)
                let response = try await plain.request(PlainPage(page: page))
                try Side.require(response.statusCode == 200 && response.data.count == byteCount)
            },
            Side { byteCount in
                let response = try await provider.request(Page(baseURL: base, byteCount: byteCount))
                try Side.require(response.statusCode == 200 && response.data.count == byteCount)
            },
        ]
    }

    private static func base(_ url: String) throws -> URL {
        guard let base = URL(string: url) else { throw URLError(.badURL) }
        return base
    }
}
