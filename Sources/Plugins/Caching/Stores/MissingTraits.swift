// Without a trait, a use does not compile, and the error says what is missing.

#if !SQLite && !canImport(Darwin)
public import Foundation

/// Unavailable: needs the package trait `SQLite`.
public struct DiskCacheStore {
    /// Unavailable: needs the package trait `SQLite`.
    @available(*, unavailable, message: "add traits: [\"SQLite\"] to .package(…) of Pipeline in Package.swift")
    public init(_ folder: URL, maximumByteCount: Int = 256 << 20, maximumBodyByteCount: Int? = nil) {}
}
#endif

#if !Redis
/// Unavailable: needs the package trait `Redis`.
public struct RedisServer {
    /// Unavailable: needs the package trait `Redis`.
    @available(*, unavailable, message: "add traits: [\"Redis\"] to .package(…) of Pipeline in Package.swift")
    public init(
        host: String = "127.0.0.1",
        port: Int = 6379,
        username: String? = nil,
        password: (@Sendable () async throws -> String)? = nil
    ) {}
}
#endif
