public import PipelineRedaction
import Synchronization

/// A store that keeps cookies in memory, as long as the store exists.
///
/// **Effects**: changes happen one after another. A change blocks the other callers of the store while its closure
/// runs.
///
/// **Errors**: none.
public final class MemoryCookieStore: CookieStore {
    private let jars = Mutex<[String: CookieJar]>([:])

    /// Creates a store without cookies.
    public init() {}

    /// Returns the jar of an account; empty if there is none.
    public func jar(account: String) async -> CookieJar {
        jars.withLock { $0[account] } ?? CookieJar()
    }

    /// Changes the jar of an account.
    ///
    /// - Parameters:
    ///   - account: the account; the empty string if an app has only one.
    ///   - change: changes the jar; it must not use the store, which would block forever.
    public func update(account: String, _ change: @Sendable (inout CookieJar) -> Void) async {
        jars.withLock { jars in
            var jar = jars[account] ?? CookieJar()
            change(&jar)
            jars[account] = jar.cookies.isEmpty ? nil : jar
        }
    }

    /// Removes the jar of an account; does nothing if there is none.
    public func remove(account: String) async {
        jars.withLock { $0[account] = nil }
    }
}

extension MemoryCookieStore: SafelyDescribed {
    /// The number of accounts that have cookies.
    public var description: String { "cookies of \(jars.withLock { $0.count }) accounts in memory" }
}
