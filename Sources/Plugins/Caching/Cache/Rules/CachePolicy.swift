/// The way in which one call uses a cache, set with the option `cachePolicy`.
///
/// An unsafe request, such as POST, removes the stored responses of its URL with every policy.
public struct CachePolicy: Sendable, Hashable {
    private let name: String

    /// Reuses fresh responses and revalidates stale ones, as the response and the request permit; the default.
    public static let standard = CachePolicy(name: "standard")
    /// Sends the request to the origin without using a stored response, and stores the new one.
    public static let reload = CachePolicy(name: "reload")
    /// Asks the origin whether a stored response is still valid, unless it is fresh and `immutable`.
    public static let revalidate = CachePolicy(name: "revalidate")
    /// Uses a stored response that needs no validation, and never contacts the origin.
    ///
    /// If there is none, the response has the status 504.
    public static let onlyIfCached = CachePolicy(name: "onlyIfCached")
    /// Sends the request to the origin, and neither uses nor stores a response.
    public static let noStore = CachePolicy(name: "noStore")
    /// Uses a stored response even if it is stale, and never contacts the origin.
    ///
    /// A response with `no-cache` is not used, and one with `must-revalidate` only while it is fresh. If there is no
    /// usable response, the status is 504.
    public static let offline = CachePolicy(name: "offline")
}

extension CachePolicy: CustomStringConvertible {
    /// The name of the static member, such as `onlyIfCached`.
    public var description: String { name }
}
