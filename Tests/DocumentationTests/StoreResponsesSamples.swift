import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

// sample: storing
/// Stores responses to GET, for a minute, and for a day in case the server fails.
final class MinuteCache: Stage.Exchange, SignOutHandling, CapabilityDeclaring {
    let capabilities: Set<PluginCapability> = [.caches]
    private let entries = Mutex<[[String]: Entry]>([:])

    func signOut() { entries.withLock { $0 = [:] } }

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        guard request.method == .get, !request.headers.contains(.range), let url = request.url else {
            context.cacheStatus = CacheStatus(.bypass, reason: "method")
            return try await send(request)
        }
        let identities = context.identities
        let fields = request.headers.filter { AccountFields.isCredential($0.name, of: request) || $0.name == .accept }
        let key = [url.absoluteString] + identities + fields.map { "\($0.name.canonicalName): \($0.value)" }
        let entry = entries.withLock { $0[key] }
        let age = entry?.age(at: context.clock.date) ?? .infinity
        if let entry, age < 60 { return entry.response(to: request, .hit, context) }
        if let entry, context[Stage.StaleUse.self] == .required { return entry.response(to: request, .stale, context) }
        context.cacheStatus = CacheStatus(.miss, reason: entry == nil ? "uri-miss" : "stale")
        var response: PipelineResponse
        do {
            response = try await send(request)
        } catch let error as PipelineError {
            guard let entry, mayReplaceError(age, context) else { throw error }
            return entry.response(to: request, .stale, context)
        }
        if let entry, Stage.StaleUse.mayReplace(response.statusCode), mayReplaceError(age, context) {
            await context.report(Stage.UnseenResponse(response))
            await response.discardBody(context)
            return entry.response(to: request, .stale, context)
        }
        let sent = response.exchanges.last?.request ?? response.request
        let isPersonal = context.identities != identities || context.mayNameAccount(sent, otherThan: request)
        if response.statusCode == 200, response.body.bytes != nil, !isPersonal, !context.hasUnverifiedContent {
            entries.withLock { $0[key] = Entry(response, at: context.clock.date) }
        }
        return response
    }

    /// Leaves it to a plugin outside retries, if there is one, to ask for the stale response.
    private func mayReplaceError(_ age: TimeInterval, _ context: PipelineContext) -> Bool {
        guard age < 86_400 else { return false }
        return context.update(Stage.StaleUse.self) { use in
            if use == .afterRetries { use = .available }
            return use == .atOnce
        }
    }
}
// end

extension MinuteCache {
    // sample: entry
    /// A stored response.
    fileprivate struct Entry {
        private var stored: PipelineResponse
        private let date: Date

        init(_ response: PipelineResponse, at date: Date) {
            stored = response
            stored.headers[.setCookie] = nil
            self.date = date
        }

        func age(at now: Date) -> TimeInterval { now.timeIntervalSince(date) }

        func response(
            to request: PipelineRequest,
            _ kind: CacheStatus.Kind,
            _ context: PipelineContext
        ) -> PipelineResponse {
            let timeToLive = 60 - Int(age(at: context.clock.date))
            let reason = kind == .stale ? CacheStatus.staleIfError : nil
            let status = CacheStatus(kind, reason: reason, timeToLive: timeToLive)
            var response = stored
            response.request = request
            response.source = .cache
            status.add(to: &response.headers)
            context.cacheStatus = status
            return response
        }
    }
    // end
}

@Suite("The plugin in the guide SharingPlugins that stores responses", .watched)
struct StoreResponsesSamples {
    private let clock = ManualClock()

    private func provider(
        _ transport: ScriptedTransport,
        _ plugins: any PluginType...
    ) -> Provider<URLTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    private func body(_ provider: Provider<URLTarget>, account: String? = nil) async throws -> String {
        let headers = account.map { ["Authorization": "Bearer \($0)"] }
        let response = try await provider.request(URLTarget("https://library.example/books", headers: headers))
        let source = response.source == .cache ? "cache" : "network"
        return "\(response.statusCode) \(String(decoding: response.data, as: UTF8.self)) \(source)"
    }

    @Test("The plugin of the guide passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { MinuteCache() }.run() == [])
    }

    @Test("A response is used for a minute, for its account, until a sign-out")
    func stores() async throws {
        let transport = ScriptedTransport { _, index in .status(200, body: "\(index)") }
        let provider = provider(transport, MinuteCache())
        #expect(try await body(provider) == "200 0 network")
        #expect(try await body(provider) == "200 0 cache")
        #expect(try await body(provider, account: "ann") == "200 1 network")
        clock.advance(by: .seconds(60))
        #expect(try await body(provider) == "200 2 network")
        try await provider.signOut()
        #expect(try await body(provider) == "200 3 network")
    }

    @Test("When the server fails, the stored response is used, after all retries", arguments: [1, 3])
    func fallsBack(attempts: Int) async throws {
        let transport = ScriptedTransport { _, index in .status(index == 0 ? 200 : 503, body: "\(index)") }
        let plugins: [any PluginType] = attempts == 1 ? [] : [StaleFallbackPlugin(), RetryPlugin()]
        let provider = provider(transport, PluginStack(plugins + [MinuteCache()]))
        #expect(try await body(provider) == "200 0 network")
        clock.advance(by: .seconds(60))
        #expect(try await clock.run { try await body(provider) } == "200 0 cache")
        #expect(transport.sent.count == 1 + attempts)
    }
}
