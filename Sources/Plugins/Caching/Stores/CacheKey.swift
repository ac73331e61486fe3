public import PipelineCore

/// The key of a stored response: keyed hashes of its URL, account and request content.
///
/// The plugin makes the hashes with ``CacheStore/secret()``. A store therefore contains no URL, no account name and no
/// content of a request.
public struct CacheKey: Sendable, Hashable {
    /// The hash of the URL; an unsafe request to that URL removes all responses with this hash.
    public let resource: String
    /// The hash of the account that the response belongs to.
    public let account: String
    /// The hash of the method and the content of a QUERY; empty for GET and HEAD.
    public let content: String

    /// Creates a key from hashes, each at most 64 bytes of ASCII.
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
