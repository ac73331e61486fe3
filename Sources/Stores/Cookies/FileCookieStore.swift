public import Foundation
public import PipelineRedaction

/// A store that keeps the cookies of all accounts in one file.
///
/// ```swift
/// let store = FileCookieStore(.applicationSupportDirectory.appending(path: "Cookies/cookies.json"))
/// ```
///
/// **Effects**: reads the file when it is first needed, and again only if it has changed. A change that affects the
/// file is on disk when ``update(account:_:)`` returns: it is written to a temporary file, which then replaces the
/// file. Each such change writes the whole file. A folder that does not exist is created with mode 0700 at the first
/// change, and files have mode 0600. Files with the suffixes `.lock` and `.tmp` are kept beside the file; a temporary
/// file that a crash has left is ignored and replaced.
///
/// Changes happen one after another on a thread of the store, which is where closures run. A change completes even if
/// its task is cancelled. Several stores and several processes can share a file on a local volume, if all use the same
/// setting for session cookies; each change waits up to 10 s for the lock.
///
/// If the app removes the file, its cookies are gone.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `sessionCookies` | ``SessionCookies/discarded`` |
///
/// **Errors**: ``CookieStoreError``. A file that cannot be understood is never overwritten: every method throws until
/// the app removes the file.
///
/// **Secrets**: the file contains account names and cookie values as plain text. Put it in a folder that other users
/// cannot read, and exclude it from backups. Errors and descriptions show only the name of the file.
public struct FileCookieStore: CookieStore {
    /// What happens to cookies without an expiry when the store ends.
    ///
    /// They live as long as the store in both cases.
    public enum SessionCookies: Sendable, Hashable {
        /// They are never written, as browsers discard them on exit. Other stores of the file do not have them.
        case discarded
        /// They are written like other cookies.
        case kept
    }

    private let file: CookieFile
    private let name: String

    /// Creates a store; touches no file.
    ///
    /// - Parameters:
    ///   - file: the file URL of the file, which does not have to exist; at most 16 MiB.
    ///   - sessionCookies: what happens to cookies without an expiry.
    public init(_ file: URL, sessionCookies: SessionCookies = .discarded) {
        self.init(file, sessionCookies: sessionCookies, patience: .seconds(10))
    }

    /// Creates a store whose changes wait for the lock as long as `patience`.
    init(_ file: URL, sessionCookies: SessionCookies, patience: Duration) {
        precondition(file.isFileURL, "the URL of a cookie file has the scheme \(file.scheme ?? "nil"), not file")
        self.file = CookieFile(file.path, keepsSessionCookies: sessionCookies == .kept, patience: patience)
        name = file.lastPathComponent
    }

    /// Returns the jar of an account; empty if there is none.
    ///
    /// - Throws: ``CookieStoreError``.
    public func jar(account: String) async throws -> CookieJar {
        try await file.jar(account: account)
    }

    /// Changes the jar of an account; completes even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - account: the account; the empty string if an app has only one.
    ///   - change: changes the jar; it must not wait for the store, which would block forever.
    /// - Throws: ``CookieStoreError``; the jar is then as before.
    public func update(account: String, _ change: @Sendable (inout CookieJar) -> Void) async throws {
        try await file.update(account: account, change)
    }

    /// Removes the jar of an account; does nothing if there is none.
    ///
    /// - Throws: ``CookieStoreError``; the jar is then as before.
    public func remove(account: String) async throws {
        try await file.remove(account: account)
    }
}

extension FileCookieStore: SafelyDescribed {
    /// The name of the file.
    public var description: String { "cookies in the file \(name.debugDescription)" }
}
