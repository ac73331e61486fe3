import HTTPTypes
public import PipelineCore

/// The calls that share one limit, circuit or schedule of a plugin.
///
/// ```swift
/// RateLimitPlugin(RateLimit(100, per: .seconds(1)), partition: TrafficPartition { request, _ in request.path })
/// ```
///
/// A plugin keeps up to 1,000 partitions. For another one, it forgets one of the 32 that have not been used for the
/// longest time: the first that has no calls in progress and no state to keep, such as an open circuit or a closed
/// gate, otherwise the first. If a tenth of all have the domain of the new one, those that have it are forgotten before
/// others. The domain of a host is its last two labels, without regard to public suffixes: `a.co.uk` and `b.co.uk` have
/// the same.
public struct TrafficPartition: Sendable {
    private enum Kind: Sendable {
        case authority
        case endpoint
        case shared
        case own(@Sendable (PipelineRequest, PipelineContext) -> String)
    }

    private let kind: Kind

    /// One partition for each scheme, host and port, the default.
    public static let authority = TrafficPartition(kind: .authority)

    /// One partition for each endpoint of a server: its origin, the method, and the target's `pathTemplate`.
    ///
    /// Use it if the paths of a server have different owners, so that one that fails or is slow does not affect the
    /// others. The targets without a template share the partition of their origin and method.
    public static let endpoint = TrafficPartition(kind: .endpoint)

    /// One partition for all calls.
    public static let shared = TrafficPartition(kind: .shared)

    private init(kind: Kind) { self.kind = kind }

    /// One partition for each key, such as a tenant or an operation.
    ///
    /// A key may be a secret, such as an API key: it stays in memory and is never shown.
    ///
    /// - Parameter key: returns the key of a request. It must be quick.
    public init(_ key: @escaping @Sendable (_ request: PipelineRequest, _ context: PipelineContext) -> String) {
        self.init(kind: .own(key))
    }

    /// Returns the key of a request.
    func key(of request: PipelineRequest, _ context: PipelineContext) -> TrafficKey {
        switch kind {
        case .authority: TrafficKey(authorityOf: request)
        case .endpoint: TrafficKey(endpointOf: request, context.target.pathTemplate)
        case .shared: .shared
        case .own(let makeKey): TrafficKey(scheme: nil, text: makeKey(request, context))
        }
    }

    /// Returns the key that a user means by a name: an origin, an endpoint such as `https://a.test GET /users/{id}` or,
    /// if a closure makes the keys, a key.
    ///
    /// - Returns: the key; `nil` if the name has to begin with an origin and does not.
    func key(named name: String) -> TrafficKey? {
        switch kind {
        case .authority: TrafficKey(origin: name)
        case .endpoint: TrafficKey(endpoint: name)
        case .shared: .shared
        case .own: TrafficKey(scheme: nil, text: name)
        }
    }
}

/// The key of a partition.
struct TrafficKey: Hashable, Sendable {
    static let shared = TrafficKey(scheme: "", text: "all calls")

    /// The scheme of an authority; empty for all calls, `nil` for a key of the user.
    let scheme: String?
    let text: String

    fileprivate init(scheme: String?, text: String) {
        self.scheme = scheme
        self.text = text
    }

    /// Makes the key of a request's origin.
    init(authorityOf request: PipelineRequest) {
        let (scheme, authority) = (request.head.scheme ?? "", request.head.authority ?? "")
        // Most authorities are in lowercase and have no port, so they need no copy.
        if scheme.utf8.allSatisfy(Self.isPlain), authority.utf8.allSatisfy(Self.isPlain) {
            self.init(scheme: scheme, text: authority)
        } else {
            let origin = request.origin
            self.init(scheme: origin.scheme, text: origin.authority)
        }
    }

    /// Makes the key of an origin such as `https://a.test:8443`; `nil` for any other text.
    init?(origin text: String) {
        guard let request = try? PipelineRequest(url: text) else { return nil }
        self.init(authorityOf: request)
    }

    /// Makes the key of a request's endpoint.
    init(endpointOf request: PipelineRequest, _ template: String?) {
        let origin = TrafficKey(authorityOf: request)
        let parts = [origin.text, request.method.rawValue, template].compactMap(\.self)
        self.init(scheme: origin.scheme, text: parts.joined(separator: " "))
    }

    /// Makes the key of an endpoint such as `https://a.test GET /users/{id}`; `nil` for any other text.
    init?(endpoint text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let origin = TrafficKey(origin: String(parts[0])) else { return nil }
        self.init(scheme: origin.scheme, text: origin.text + " " + parts[1])
    }

    /// What reports and errors call the partition; `nil` if the key may be a secret.
    var shownName: String? {
        guard let scheme else { return nil }
        return scheme.isEmpty ? text : "\(scheme)://\(text)"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && byte != UInt8(ascii: ":")
    }
}
