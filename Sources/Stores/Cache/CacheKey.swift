public import PipelineRedaction

/// What a stored response belongs to, as keyed hashes.
///
/// A plugin makes the hashes with ``CacheStore/secret()``, so a store contains no URL, no account name and no content
/// of a request.
public struct CacheKey: Sendable, Hashable {
    /// The hash of the URL; an unsafe method invalidates all responses that have it.
    public let resource: String
    /// The hash of the account whose response it is.
    public let account: String
    /// The hash of the method and the content of the request; empty for GET.
    public let content: String

    /// Makes a key from hashes, each at most 64 bytes of ASCII.
    public init(resource: String, account: String, content: String = "") {
        self.resource = resource
        self.account = account
        self.content = content
    }
}

extension CacheKey: SafelyDescribed {
    /// The first characters of the hash of the URL.
    public var description: String { "cache key \(resource.prefix(8))" }
}
