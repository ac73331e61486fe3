import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting

/// A provider with a cache on a scripted transport and a manual clock.
struct CacheBench: Sendable {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let provider: Provider<Ask>

    init(
        _ transport: ScriptedTransport,
        _ cache: CachePlugin = CachePlugin(),
        outside: [any PluginType] = [],
        inside: [any PluginType] = []
    ) {
        self.transport = transport
        provider = Provider(
            transport: transport,
            plugins: outside + [cache] + inside,
            configuration: .init(clock: clock)
        )
    }

    init(_ transport: ScriptedTransport, stack: PluginStack) {
        self.transport = transport
        provider = Provider(transport: transport, plugins: [stack], configuration: .init(clock: clock))
    }

    /// Responds to each request with the number of requests so far as the body.
    init(
        _ fields: HTTPFields,
        _ cache: CachePlugin = CachePlugin(),
        outside: [any PluginType] = [],
        inside: [any PluginType] = []
    ) {
        let transport = ScriptedTransport { request, index in
            if let tag = fields[.eTag], request.headers[.ifNoneMatch] == tag { return .status(304, headers: fields) }
            return .status(200, headers: fields, body: "\(index + 1)")
        }
        self.init(transport, cache, outside: outside, inside: inside)
    }

    /// Returns the body and the status of the cache.
    func get(_ ask: Ask = Ask(), _ policy: CachePolicy? = nil) async throws -> String {
        let response = try await response(ask, policy)
        return String(decoding: response.data, as: UTF8.self) + " " + (response.cacheStatus?.kind.rawValue ?? "none")
    }

    func response(_ ask: Ask = Ask(), _ policy: CachePolicy? = nil) async throws -> PipelineResponse {
        try await provider.request(ask, options: RequestOptions { $0.cachePolicy = policy })
    }

    static func control(_ value: String, _ more: HTTPFields = [:]) -> HTTPFields {
        var fields = more
        fields[.cacheControl] = value
        return fields
    }
}
