public import Foundation
public import PipelineCore

/// A store that keeps the cookies of all accounts in one file.
///
/// ```swift
/// let store = FileCookieStore(.applicationSupportDirectory.appending(path: "Cookies/cookies.json"))
/// ```
///
/// **Effects**: reads the file when it is first needed, and again only if it has changed. A change that affects the
/// file is written when ``update(account:_:)`` returns: it is written to a temporary file, which then replaces the
/// file. Each such change writes the whole file, which may have 16 MiB for all accounts. A cookie takes about 300
/// bytes more than its value, so the file has room for about 5,000 accounts with 10 cookies each. A folder that does
/// not exist is created with mode 0700 at the first change, and files have mode 0600. Files with the suffixes `.lock`
/// and `.tmp` are kept beside the file; a temporary file that a crash has left is ignored and replaced.
///
/// Changes happen one after another on a queue of the store, which is where closures run. Several stores and several
/// processes can share a file on a local volume, if all use the same setting for session cookies. A change waits up to
/// 10 s for the lock that others have; jars can be read meanwhile. A change that has the lock completes even if its
/// task is cancelled.
///
/// If the file cannot be changed, such as on a full disk, the change fails, but is kept in memory. The next change that
/// succeeds writes it, too. If another store changes the same cookie meanwhile, the change in memory is dropped. Of a
/// change that would make the file too large, only cookies without an expiry are kept.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `sessionCookies` | ``SessionCookies/discarded`` |
///
/// **Errors**: ``CookieStoreError``, and `CancellationError` if a task is cancelled while it waits for the lock. A file
/// that cannot be understood is never overwritten: every method throws until ``remove(account:)`` is called with `nil`.
/// A file without bytes has no cookies.
///
/// **Secrets**: the file contains account names and cookie values as plain text. Put it in a folder that other users
/// can neither read nor write, and exclude it from backups. A file of another user, except root, is refused. Errors
/// and descriptions show only the name of the file.
public struct FileCookieStore: CookieStore {
    /// What happens to cookies without an expiry when the store ends.
    ///
    /// They live as long as the store in both cases.
    public struct SessionCookies: Sendable, Hashable {
        fileprivate let areWritten: Bool

        /// They are never written, as browsers discard them on exit.
        ///
        /// Other stores of the file do not have them.
        public static let discarded = SessionCookies(areWritten: false)
        /// They are written like other cookies.
        public static let kept = SessionCookies(areWritten: true)
    }

    private let file: CookieFile
    private let name: String
    private let patience: Duration

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
        self.file = CookieFile(file.path, keepsSessionCookies: sessionCookies.areWritten)
        self.patience = patience
        name = file.lastPathComponent
    }

    /// Returns the jar of an account; empty if there is none.
    ///
    /// - Throws: ``CookieStoreError``.
    public func jar(account: String) async throws -> CookieJar {
        try await file.jar(account: account)
    }

    /// Changes the jar of an account.
    ///
    /// - Parameters:
    ///   - account: the account; the empty string if an app has only one.
    ///   - change: changes the jar; it must not wait for the store, which would block forever. It runs a second time if
    ///     the file cannot be changed.
    /// - Throws: ``CookieStoreError``, or `CancellationError` if the task is cancelled while it waits for the lock. The
    ///   change is then kept in memory until another one succeeds.
    public func update(account: String, _ change: @Sendable (inout CookieJar) -> Void) async throws {
        do {
            try await waitForLock { try await file.tryUpdate(account: account, change) }
        } catch {
            // A file that cannot be read has no jar to change.
            try? await file.updateMemory(account: account, change)
            throw error
        }
    }

    /// Removes the jar of an account; does nothing if there is none.
    ///
    /// Without an account, it removes the file, even one that is damaged, and with it the cookies of all accounts, also
    /// those in memory. Cookies in the memory of other stores of the file stay.
    ///
    /// - Throws: as ``update(account:_:)``.
    public func remove(account: String?) async throws {
        guard let account else { return try await waitForLock { try await file.tryRemoveFile() } }
        guard try await !jar(account: account).cookies.isEmpty else { return }
        try await update(account: account) { $0.removeAll() }
    }

    /// Calls a closure that returns `false` while another store has the lock, until it returns `true`.
    ///
    /// Waits outside the actor, so that reads go on, and at most 50 ms between two attempts.
    private func waitForLock(_ attempt: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + patience
        var pause = Duration.milliseconds(1)
        while try await !attempt() {
            guard ContinuousClock.now < deadline else { throw CookieStoreError(.locked, path: name) }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(50))
        }
    }
}

extension FileCookieStore: SafelyDescribed {
    /// The name of the file.
    public var description: String { "cookies in the file \(name.debugDescription)" }
}
