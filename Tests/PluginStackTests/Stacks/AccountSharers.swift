import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting

/// A way to share, store, join or repeat what a server returns, and the places in it for plugins that set a credential.
struct AccountSharer: Sendable {
    let name: String
    /// The header fields of the server's responses.
    var fields: HTTPFields = [.cacheControl: "max-age=60"]
    /// The time between the calls at once and the later ones.
    var pause: Duration = .zero
    /// Whether the server fails after that time.
    var failsLater = false
    /// Whether calls of one account share responses if its credential is set outside.
    var shares = true
    /// Whether the stack has a place for credentials, which `make` fills.
    var hasBraces = false
    /// Makes the plugins.
    let make: @Sendable (_ braces: [any PluginType]) -> [any PluginType]

    /// The accounts of the calls after that time.
    var later: [String] { pause == .zero ? ["bob", "alice"] : ["bob", "alice", "alice", "bob"] }

    static let all: [AccountSharer] = [
        AccountSharer(name: "de-duplication") { _ in [DeduplicationPlugin()] },
        AccountSharer(name: "cache") { _ in [CachePlugin()] },
        AccountSharer(name: "cache, Vary", fields: [.cacheControl: "max-age=60", .vary: "X-User"]) { _ in
            [CachePlugin()]
        },
        AccountSharer(name: "shared cache", shares: false) { _ in [CachePlugin(rules: .shared)] },
        AccountSharer(name: "cache with account") { _ in
            [CachePlugin(account: { AccountCall.account($0) }), DeduplicationPlugin()]
        },
        AccountSharer(name: "de-duplication and cache with account") { _ in
            [DeduplicationPlugin(), CachePlugin(account: { AccountCall.account($0) })]
        },
        AccountSharer(name: "cache and de-duplication") { _ in [CachePlugin(), DeduplicationPlugin()] },
        AccountSharer(name: "de-duplication and cache") { _ in [DeduplicationPlugin(), CachePlugin()] },
        AccountSharer(
            name: "revalidation in the background",
            fields: [.cacheControl: "max-age=1, stale-while-revalidate=600"],
            pause: .seconds(10)
        ) { _ in [CachePlugin(), DeduplicationPlugin()] },
        AccountSharer(
            name: "stale if error",
            fields: [.cacheControl: "max-age=1, stale-if-error=600"],
            pause: .seconds(10),
            failsLater: true
        ) { _ in [CachePlugin(), DeduplicationPlugin()] },
        AccountSharer(
            name: "fallback",
            fields: [.cacheControl: "max-age=1"],
            pause: .seconds(10),
            failsLater: true
        ) { _ in [StaleFallbackPlugin(), CachePlugin(), DeduplicationPlugin()] },
        AccountSharer(name: "hedging", shares: false) { _ in
            [HedgingPlugin(after: .fixed(.milliseconds(10))), DeduplicationPlugin()]
        },
        AccountSharer(name: "retry") { _ in [RetryPlugin(), DeduplicationPlugin()] },
        AccountSharer(name: "cookies") { _ in [CookiePlugin(), CachePlugin(), DeduplicationPlugin()] },
        AccountSharer(name: "quota by account") { _ in
            let partition = TrafficPartition { request, _ in request.headers[.authorization] ?? "none" }
            return [RateLimitPlugin(RateLimit(1, per: .seconds(1)), partition: partition), DeduplicationPlugin()]
        },
        AccountSharer(name: "standard", hasBraces: true) { braces in
            [.standard(logging: .off) { PluginStack(braces) }]
        },
        AccountSharer(name: "standard with cache", hasBraces: true) { braces in
            [.standard(.cookies(), .cache(), logging: .off) { PluginStack(braces) }]
        },
        AccountSharer(name: "standard with a shared cache", hasBraces: true) { braces in
            [.standard(.cache(CachePlugin(rules: .shared)), logging: .off) { PluginStack(braces) }]
        },
        AccountSharer(name: "standard with a cache with account", hasBraces: true) { braces in
            [
                .standard(.cache(CachePlugin(account: { AccountCall.account($0) })), logging: .off) {
                    PluginStack(braces)
                }
            ]
        },
        AccountSharer(name: "resilient with cache", hasBraces: true) { braces in
            [.standard(.resilient, .cache(), logging: .off) { PluginStack(braces) }]
        },
    ]

    // MARK: Places

    /// A place for the plugins that set a credential: before a plugin of the stack, after all, or in the braces.
    struct Place: CustomStringConvertible {
        /// `nil` for the braces.
        let index: Int?
        let description: String
    }

    /// All places; of a stack with braces, only the outermost, the innermost and the braces.
    var places: [Place] {
        let count = PluginStack(make([])).plugins.count
        let indices = hasBraces ? [0, count] : Array(0...count)
        let places = indices.map { Place(index: $0, description: "at \($0) of \(count) in \(name)") }
        return places + (hasBraces ? [Place(index: nil, description: "in the braces of \(name)")] : [])
    }

    /// The stack with some plugins at a place.
    func plugins(with setters: [any PluginType], at place: Place) -> [any PluginType] {
        guard let index = place.index else { return make(setters) }
        var plugins = PluginStack(make([])).plugins
        plugins.insert(contentsOf: setters, at: index)
        return plugins
    }
}
