public import PipelineCore

/// A store that keeps cookies in memory, as long as the store exists.
///
/// **Effects**: changes happen one after another. Other callers of the store wait while a closure runs.
///
/// **Errors**: none.
public actor MemoryCookieStore: CookieStore {
    private var jars: [String: CookieJar] = [:]

    /// Creates a store without cookies.
    public init() {}

    /// Returns the jar of an account; empty if there is none.
    public func jar(account: String) -> CookieJar {
        jars[account] ?? CookieJar()
    }

    /// Changes the jar of an account.
    ///
    /// - Parameters:
    ///   - account: the account; the empty string if an app has only one.
    ///   - change: changes the jar.
    public func update(account: String, _ change: @Sendable (inout CookieJar) -> Void) {
        var jar = jars[account] ?? CookieJar()
        change(&jar)
        jars[account] = jar.cookies.isEmpty ? nil : jar
    }

    /// Removes the jar of an account, or those of all accounts; does nothing if there is none.
    public func remove(account: String?) {
        if let account { jars[account] = nil } else { jars = [:] }
    }
}

extension MemoryCookieStore: SafelyDescribed {
    /// What the store is; neither accounts nor cookies.
    public nonisolated var description: String { "cookies in memory" }
}
