import HTTPTypes
public import Pipeline

/// The calls that share one limit, circuit or schedule of a plugin.
///
/// ```swift
/// RateLimitPlugin(RateLimit(100, per: .seconds(1)), partition: TrafficPartition { request, _ in request.path })
/// ```
///
/// A plugin keeps up to 1,000 partitions. Beyond that, it forgets the one that has not been used for the longest time,
/// and of these first one without calls in progress.
public struct TrafficPartition: Sendable {
    private let makeKey: (@Sendable (PipelineRequest, PipelineContext) -> String)?
    private let isShared: Bool

    /// One partition for each scheme, host and port, the default.
    public static let authority = TrafficPartition(makeKey: nil, isShared: false)

    /// One partition for all calls.
    public static let shared = TrafficPartition(makeKey: nil, isShared: true)

    private init(makeKey: (@Sendable (PipelineRequest, PipelineContext) -> String)?, isShared: Bool) {
        self.makeKey = makeKey
        self.isShared = isShared
    }

    /// One partition for each key, such as a tenant or an operation.
    ///
    /// A key may be a secret, such as an API key: it stays in memory and is never shown.
    ///
    /// - Parameter key: returns the key of a request. It must be quick.
    public init(_ key: @escaping @Sendable (_ request: PipelineRequest, _ context: PipelineContext) -> String) {
        self.init(makeKey: key, isShared: false)
    }

    /// Returns the key of a request.
    func key(of request: PipelineRequest, _ context: PipelineContext) -> TrafficKey {
        if let makeKey { return TrafficKey(scheme: nil, text: makeKey(request, context)) }
        if isShared { return TrafficKey.shared }
        return TrafficKey(authorityOf: request)
    }

    /// Returns the key that a user means by a name: an origin or, if a closure makes the keys, a key.
    ///
    /// - Returns: the key; `nil` if the name has to be an origin and is not.
    func key(named name: String) -> TrafficKey? {
        if makeKey != nil { return TrafficKey(scheme: nil, text: name) }
        return isShared ? .shared : TrafficKey(origin: name)
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

    /// What reports and errors call the partition; `nil` if the key may be a secret.
    var shownName: String? {
        guard let scheme else { return nil }
        return scheme.isEmpty ? text : "\(scheme)://\(text)"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && byte != UInt8(ascii: ":")
    }
}
