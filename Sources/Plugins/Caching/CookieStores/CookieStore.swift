/// A place that keeps a ``CookieJar`` for each account.
///
/// Names of accounts are compared as Swift compares strings: those that Unicode calls canonically equivalent, such as
/// an `é` of one scalar and one of two, are one account.
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
    ///   - change: changes the jar; it must not use the store. A store may call it several times, each time with the
    ///     jar as it then is, and keeps the result of one call.
    /// - Throws: an error if the store cannot be read or written; the jar is then as before, except for cookies without
    ///   an expiry that the store keeps only in memory.
    func update(account: String, _ change: @Sendable (inout CookieJar) -> Void) async throws

    /// Removes the jar of an account; those of all accounts if it is `nil`.
    ///
    /// - Throws: an error if the store cannot be written.
    func remove(account: String?) async throws
}
