/// How one call uses a cache.
public struct CachePolicy: Sendable, Hashable {
    private let name: String

    /// Reuses fresh responses and revalidates stale ones, as the response and the request permit.
    public static let standard = CachePolicy(name: "standard")
    /// Ignores stored responses, and stores the new one.
    public static let reload = CachePolicy(name: "reload")
    /// Asks the origin whether a stored response is still valid, unless it is fresh and `immutable`.
    public static let revalidate = CachePolicy(name: "revalidate")
    /// Uses a stored response if it needs no validation, and never contacts the origin.
    public static let onlyIfCached = CachePolicy(name: "onlyIfCached")
    /// Neither uses nor stores a response.
    public static let noStore = CachePolicy(name: "noStore")
    /// Uses a stored response however stale, and never contacts the origin.
    ///
    /// A response that the origin forbids to reuse without validation (`no-cache`, `must-revalidate`) is not used.
    public static let offline = CachePolicy(name: "offline")
}

extension CachePolicy: CustomStringConvertible {
    /// The name of the static member, such as `onlyIfCached`.
    public var description: String { name }
}
