import AsyncHTTPClient
import Driving
import Foundation
import NIOSSL
import Pipeline
import PipelineCaching
import PipelineResilience
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A provider for the URLs of a case.
struct PipelineClient: Client {
    private let provider: Provider<URLTarget>
    private let shutdown: @Sendable () async throws -> Void

    /// Makes the provider of a case.
    ///
    /// - Parameters:
    ///   - example: the case.
    ///   - usesURLSession: whether the transport uses URLSession, and not AsyncHTTPClient.
    ///   - isResilient: whether the plugins are `.standard(.resilient)`, and not only those that the case needs.
    init(_ example: Case, usesURLSession: Bool, isResilient: Bool) {
        let plugins = isResilient ? Self.makeResilientStack(example) : Self.makePlugins(example)
        if usesURLSession {
            provider = Provider(transport: Self.makeURLSession(example), plugins: [plugins])
            shutdown = {}
        } else {
            let transport = Self.makeAsyncHTTPClient(example)
            provider = Provider(transport: transport, plugins: [plugins])
            shutdown = { try await transport.shutdown() }
        }
    }

    private static func makeURLSession(_ example: Case) -> URLSessionTransport {
        let configuration = URLSessionTransport.makeDefaultConfiguration()
        if let count = example.client.connections { configuration.httpMaximumConnectionsPerHost = count }
        return URLSessionTransport(configuration: configuration)
    }

    private static func makeAsyncHTTPClient(_ example: Case) -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        if let path = example.authority { configuration.tlsConfiguration?.trustRoots = .file(path) }
        var proxies = AsyncHTTPClientTransport.ProxyPolicy.configuration
        if let proxy = example.client.proxy.flatMap(URLComponents.init(string:)) {
            let credential = proxy.user.map { user in
                AsyncHTTPClientTransport.ProxyPolicy.Credential(username: user, password: proxy.password ?? "")
            }
            proxies = .proxy(.http(host: proxy.host ?? "", port: proxy.port ?? 80, credential: credential))
        } else if example.needs("proxy-environment") {
            proxies = .environment
        }
        return AsyncHTTPClientTransport(
            configuration: configuration,
            connectionsPerHost: example.client.connections,
            proxies: proxies
        )
    }

    private static func makePlugins(_ example: Case) -> PluginStack {
        let own = StandardPart([
            .timeouts: example.needs("timeout") ? [TimeoutPlugin(total: .seconds(30))] : [],
            .retries: example.needs("retry") ? [RetryPlugin()] : [],
            .compression: example.needs("decode") ? [GzipPlugin()] : [],
        ])
        return PluginStack([own, cookies(example), cache(example)])
    }

    private static func makeResilientStack(_ example: Case) -> PluginStack {
        .standard(.resilient, cookies(example), cache(example), logging: .off)
    }

    private static func cookies(_ example: Case) -> StandardPart {
        example.needs("cookies") ? .cookies() : StandardPart([:])
    }

    private static func cache(_ example: Case) -> StandardPart { example.needs("cache") ? .cache() : StandardPart([:]) }

    func perform(_ call: Call) async throws -> Value {
        guard let method = HTTPRequest.Method(call.method) else { throw Refused("\(call.method) is not a method") }
        let fields = Dictionary(call.fields.map { ($0[0], $0[1]) }) { _, last in last }
        let task = call.data.map(RequestTask.requestData) ?? .requestPlain
        let target = URLTarget(call.url, method: method, task: task, headers: fields)
        if let count = call.events, let limit = call.for { return try await events(target, count, limit) }
        let options = RequestOptions { options in
            if let deadline = call.deadline { options.totalTimeout = .milliseconds(deadline) }
        }
        let response = try await provider.request(target, options: options)
        return Value(status: response.statusCode, body: response.data, of: call) { response.header($0) }
    }

    /// Returns the data of the events that arrive within a number of milliseconds, at most `count`.
    private func events(_ target: URLTarget, _ count: Int, _ limit: Int) async throws -> Value {
        let received = Mutex<[String]>([])
        try await cancelling(after: limit) {
            for try await event in provider.serverSentEvents(target) {
                let isLast = received.withLock { events in
                    events.append(event.data)
                    return events.count == count
                }
                if isLast { return }
            }
        }
        return Value(events: received.withLock(\.self))
    }

    func close() async { try? await shutdown() }
}
