/// A place that keeps a ``CookieJar`` for each account.
///
/// Run `CookieStoreConformance` of `PipelineTesting` against your own.
public protocol CookieStore: Sendable {
    /// Returns the jar of an account; empty if there is none.
    ///
    /// - Throws: an error if the store cannot be read.
    func jar(account: String) async throws -> CookieJar

    /// Changes the jar of an account. No other change happens between the closure's reading and its writing.
    ///
    /// - Parameters:
    ///   - account: the account; the empty string if an app has only one.
    ///   - change: changes the jar; it must not use the store.
    /// - Throws: an error if the store cannot be read or written; the jar is then as before.
    func update(account: String, _ change: @Sendable (inout CookieJar) -> Void) async throws

    /// Removes the jar of an account.
    ///
    /// - Throws: an error if the store cannot be written.
    func remove(account: String) async throws
}
