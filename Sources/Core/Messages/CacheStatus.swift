public import HTTPTypes

/// A report of how a cache handled a request.
///
/// ```swift
/// let response = try await provider.request(.news)
/// print(response.cacheStatus?.description ?? "no cache")  // hit, fresh for 59 s
/// ```
///
/// Source: RFC 9211, https://www.rfc-editor.org/rfc/rfc9211.html
public struct CacheStatus: Sendable, Hashable {
    /// The way in which a cache handled a request.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name of the kind.
        public let rawValue: String
        /// Makes a kind from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A stored response that is fresh; no request was sent to the origin.
        public static let hit = Kind(rawValue: "hit")
        /// A stored response that is stale; the origin failed, or the cache responded without waiting for it.
        public static let stale = Kind(rawValue: "stale")
        /// A stored response that the origin has confirmed.
        public static let revalidated = Kind(rawValue: "revalidated")
        /// A response of the origin, because no stored one could be used.
        public static let miss = Kind(rawValue: "miss")
        /// A response without the store, because of the method, the policy, or a failure of the store.
        ///
        /// The response is that of the origin, or a 504 if the origin must not be contacted.
        public static let bypass = Kind(rawValue: "bypass")
    }

    /// How the cache handled the request.
    public let kind: Kind
    /// The reason, such as `uri-miss`, `vary-miss`, `stale-if-error` or `method`; `nil` for a plain hit.
    public let reason: String?
    /// How many seconds the response stays fresh, negative for a stale response; `nil` if it is not from the store and
    /// not being stored.
    public let timeToLive: Int?
    /// Whether the response of the origin is being stored, while its body is read.
    public let isStored: Bool
    /// The status of the origin's response; `nil` without one.
    public let originStatus: Int?

    /// Creates a report, for a plugin that caches.
    ///
    /// Set it as ``PipelineContext/cacheStatus`` before the request is sent and when the response is known, and add it
    /// to the response with ``add(to:)``.
    ///
    /// - Parameters:
    ///   - kind: how the cache handled the request.
    ///   - reason: the reason; a value of the parameter `fwd` if RFC 9211 has one for it. Quotes are not escaped.
    ///   - timeToLive: how many seconds the response stays fresh.
    ///   - isStored: whether the response is being stored.
    ///   - originStatus: the status of the origin's response.
    public init(
        _ kind: Kind,
        reason: String? = nil,
        timeToLive: Int? = nil,
        isStored: Bool = false,
        originStatus: Int? = nil
    ) {
        self.kind = kind
        self.reason = reason
        self.timeToLive = timeToLive
        self.isStored = isStored
        self.originStatus = originStatus
    }

    private static let cacheName = "Pipeline"
    /// The reason of a stale response that replaces a failure of the origin.
    public static let staleIfError = "stale-if-error"
    /// The values of the parameter `fwd` that RFC 9211 defines; other reasons go into `detail`.
    private static let forwardReasons: Set<String> = [
        "bypass", "method", "uri-miss", "vary-miss", "miss", "request", "stale", "partial",
    ]

    /// The value of the field Cache-Status, such as `Pipeline; hit; ttl=59`.
    public var fieldValue: String {
        var text = Self.cacheName
        let forward = forwardReason
        if let forward { text += "; fwd=" + forward } else if kind != .bypass { text += "; hit" }
        if let originStatus { text += "; fwd-status=\(originStatus)" }
        if let timeToLive { text += "; ttl=\(timeToLive)" }
        if isStored { text += "; stored" }
        if let reason, reason != forward { text += "; detail=\"\(reason)\"" }
        return text
    }

    /// Why the request went to the origin; `nil` if it did not.
    private var forwardReason: String? {
        if kind == .stale { return reason == Self.staleIfError ? "stale" : nil }
        if kind == .hit || (kind == .bypass && originStatus == nil) { return nil }
        if let reason, Self.forwardReasons.contains(reason) { return reason }
        return kind == .bypass ? "bypass" : kind == .revalidated ? "stale" : "request"
    }
}

extension CacheStatus {
    /// Parses a value of the form of ``fieldValue``; returns `nil` for values of other caches.
    init?(fieldValue: String) {
        var parameters = FieldParameters(fieldValue[...])
        guard parameters.takeItem() == Self.cacheName else { return nil }
        var values: [String: String] = [:]
        while let (name, value) = parameters.next() { values[name] = value }
        let forward = values["fwd"]
        let timeToLive = values["ttl"].flatMap { Int($0) }
        let originStatus = values["fwd-status"].flatMap { Int($0) }
        let kind: Kind =
            switch forward {
            case nil where values["hit"] == nil: .bypass
            case nil: (timeToLive ?? 0) < 0 || values["detail"] != nil ? .stale : .hit
            case _ where values["detail"] == Self.staleIfError: .stale
            case "bypass", "method": .bypass
            case _ where originStatus == 304 && timeToLive != nil: .revalidated
            default: .miss
            }
        self.init(
            kind,
            reason: values["detail"] ?? forward,
            timeToLive: timeToLive,
            isStored: values["stored"] != nil,
            originStatus: originStatus
        )
    }

    /// Adds a line of Cache-Status to those of other caches.
    public func add(to headers: inout HTTPFields) {
        guard let name = HTTPField.Name.cacheStatus else { return }
        headers.append(HTTPField(name: name, value: fieldValue))
    }
}

extension CacheStatus: CustomStringConvertible {
    /// The kind, the reason and the remaining lifetime in words, such as `hit, fresh for 59 s`.
    public var description: String {
        var text = kind.rawValue
        if let reason, kind != .hit { text += " (\(reason))" }
        if let timeToLive {
            text += timeToLive < 0 ? ", stale for \(timeToLive.magnitude) s" : ", fresh for \(timeToLive) s"
        }
        return isStored ? text + ", stored" : text
    }
}

extension HTTPField.Name {
    /// Cache-Status (RFC 9211); `nil` never occurs, because the name is valid.
    static let cacheStatus = HTTPField.Name("Cache-Status")
}

extension PipelineResponse {
    /// How a cache in the stack handled the request, from the last line of Cache-Status; `nil` without one.
    ///
    /// If the stack has no such plugin, the value can come from a server or proxy that uses this library.
    public var cacheStatus: CacheStatus? {
        guard let name = HTTPField.Name.cacheStatus else { return nil }
        return headers[values: name].last.flatMap { CacheStatus(fieldValue: $0) }
    }
}

extension PipelineContext {
    /// How a cache has handled the latest request of the call; `nil` without a cache.
    ///
    /// A cache sets it before it sends a request to the origin, with the reason, and when it returns a response. A
    /// background call begins with the value of its parent. Metrics and recordings show it.
    public var cacheStatus: CacheStatus? {
        get { self[LatestCacheStatus.self] }
        nonmutating set { update(LatestCacheStatus.self) { $0 = newValue } }
    }
}

private enum LatestCacheStatus: PipelineContext.Key {
    static let defaultValue: CacheStatus? = nil
    static let isInherited = true
}
