import AsyncHTTPClient
import Driving
import Foundation
import NIOSSL
import Pipeline
import PipelineCaching
import PipelineResilience

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The driver of Pipeline: `pipeline-driver async-http-client|url-session plain|resilient`.
///
/// `plain` has only the plugins that a case needs, `resilient` the stack `.standard(.resilient)`.
@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let usesURLSession = arguments.contains("url-session")
        let commit = (try? String(contentsOfFile: "environment/commit", encoding: .utf8)) ?? "of an unknown commit"
        let transport =
            usesURLSession
            ? "Foundation of Swift \(Driver.swiftVersion)"
            : "AsyncHTTPClient \(Driver.version(of: "async-http-client"))"
        var features = [
            "http1", "proxy-environment", "cookies", "cache", "sse", "decode", "timeout", "cancel", "retry",
            "concurrency", "limit", "fields", "redirects",
        ]
        if !usesURLSession { features += ["proxy"] }
        if !usesURLSession || SystemAuthorities.areReplaceable { features += ["tls", "http2"] }
        let isResilient = arguments.contains("resilient")
        let driver = Driver(
            version: "Pipeline \(commit.trimmingCharacters(in: .newlines)) (\(transport))",
            features: features
        ) { example in
            let transport: any Transport =
                if usesURLSession { makeURLSession(example) } else { try makeAsyncHTTPClient(example) }
            let plugins = isResilient ? makeResilientStack(example) : makePlugins(example)
            return PipelineClient(provider: Provider(transport: transport, plugins: [plugins]), transport: transport)
        }
        try await driver.run()
    }

    private static func makeURLSession(_ example: Case) -> URLSessionTransport {
        SystemAuthorities.replace(for: example)
        let configuration = URLSessionTransport.makeDefaultConfiguration()
        if let count = example.client.connections { configuration.httpMaximumConnectionsPerHost = count }
        return URLSessionTransport(configuration: configuration)
    }

    private static func makeAsyncHTTPClient(_ example: Case) throws -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        if let path = example.authority { configuration.tlsConfiguration?.trustRoots = .file(path) }
        var proxies = AsyncHTTPClientTransport.ProxyPolicy.configuration
        if let proxy = example.client.proxy.flatMap(URLComponents.init(string:)) {
            var credential: PasswordCredential?
            if let user = proxy.user { credential = PasswordCredential(username: user, password: proxy.password ?? "") }
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
        PluginStack([
            StandardPart([
                .timeouts: example.needs("timeout") ? [TimeoutPlugin(total: .seconds(30))] : [],
                .retries: example.needs("retry") ? [RetryPlugin()] : [],
                .compression: example.needs("decode") ? [GzipPlugin()] : [],
            ]),
            example.needs("cookies") ? .cookies() : StandardPart([:]),
            example.needs("cache") ? .cache() : StandardPart([:]),
        ])
    }

    private static func makeResilientStack(_ example: Case) -> PluginStack {
        .standard(
            .resilient,
            example.needs("cookies") ? .cookies() : StandardPart([:]),
            example.needs("cache") ? .cache() : StandardPart([:])
        )
    }
}
