import AsyncHTTPClient
import Foundation
import Pipeline
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client called directly, and the pipeline over a transport with a second client of the same configuration.
extension Contest {
    static func asyncHTTPClient(connections: Int?) -> Contest {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        if let connections { configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections }
        let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        let direct = Side(name: "directly") { byteCount, task in
            var request = HTTPClientRequest(url: Nginx.url + Nginx.path(byteCount, task))
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
        let direct = Side(name: "directly") { byteCount, task in
            guard let url = URL(string: Nginx.url + Nginx.path(byteCount, task)) else { throw URLError(.badURL) }
            var request = URLRequest(url: url)
            for (name, value) in Page.fields { request.setValue(value, forHTTPHeaderField: name) }
            // On Linux this call must not be cancelled; the benchmark does not cancel it.
            let (data, response) = try await session.data(for: request)
            try Side.require((response as? HTTPURLResponse)?.statusCode == 200 && data.count == byteCount)
        }
        return Contest(name: "URLSession", sides: [direct] + pipeline(over: URLSessionTransport()))
    }

    private static func pipeline(over transport: some Transport) -> [Side] {
        [
            plainSide("no plugins", over: transport),
            side("six plugins", over: transport, Page.plugins),
            side("standard stack", over: transport, Page.standard),
            side("logging, two headers", over: transport, Page.logging),
            missSide("resilience, cache, cookies, tracing", over: transport),
            plainSide("no plugins, timeline", over: transport, timeline: true),
            side("six plugins, timeline", over: transport, Page.plugins, timeline: true),
        ]
    }

    private static func plainSide(_ name: String, over transport: some Transport, timeline: Bool = false) -> Side {
        let provider = Provider<PlainPage>(transport: transport, configuration: .init(timeline: timeline))
        return Side(name: name) { byteCount, task in
            let response = try await provider.request(PlainPage(page: Page(byteCount: byteCount, number: task)))
            try Side.require(response.statusCode == 200 && response.data.count == byteCount)
        }
    }

    /// The standard stack with more parts; each call asks for another URL, so that the cache has no response and stores
    /// one.
    private static func missSide(_ name: String, over transport: some Transport) -> Side {
        let provider = Provider<MissedPage>(transport: transport, plugins: Page.everything)
        let numbers = Mutex(0)
        return Side(name: name) { byteCount, task in
            let number = numbers.withLock { number in
                number += 1
                return number
            }
            let page = MissedPage(page: Page(byteCount: byteCount, number: task), query: number)
            let response = try await provider.request(page)
            try Side.require(response.statusCode == 200 && response.data.count == byteCount)
        }
    }

    private static func side(
        _ name: String,
        over transport: some Transport,
        _ plugins: [any PluginType],
        timeline: Bool = false
    ) -> Side {
        let provider = Provider<Page>(
            transport: transport,
            plugins: plugins,
            configuration: .init(timeline: timeline)
        )
        return Side(name: name) { byteCount, task in
            let response = try await provider.request(Page(byteCount: byteCount, number: task))
            try Side.require(response.statusCode == 200 && response.data.count == byteCount)
        }
    }
}
