import Foundation
import PipelineFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The file of a ``FileCookieStore`` and the cookies that were last read from it or written to it.
///
/// Its methods block for input and output, but do not wait for the lock and do not suspend. They run one after another
/// on their own queue, and to their end even if the task is cancelled.
actor CookieFile {
    static let maximumByteCount = 16 << 20

    private let executor = BlockingExecutor(label: "pipeline.cookies")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let path: String
    private let keepsSessionCookies: Bool

    private var jars: [String: CookieJar] = [:]
    /// The file that `jars` corresponds to; `nil` if there was none.
    ///
    /// It stays open so that the system cannot give its inode to a later version of the file.
    private var current: Version?
    /// The jars that the file has, if a change that is in `jars` could not be written; `nil` if there is none.
    private var written: [String: CookieJar]?

    init(_ path: String, keepsSessionCookies: Bool) {
        self.path = path
        self.keepsSessionCookies = keepsSessionCookies
    }

    func jar(account: String) throws(CookieStoreError) -> CookieJar {
        try refresh()
        return jars[account] ?? CookieJar()
    }

    /// Changes the jar of an account; returns `false` without a change if another store has the lock.
    func tryUpdate(
        account: String,
        _ change: @Sendable (inout CookieJar) -> Void
    ) throws(CookieStoreError) -> Bool {
        try withLock { () throws(CookieStoreError) in
            try refresh()
            let (changed, _) = changing(account, change)
            let content = content(of: changed)
            if written != nil || !content.hasSameCookies(as: self.content(of: jars)) { try write(content) }
            jars = changed
        }
    }

    /// Makes a change in memory only, because the file cannot be changed; the next change that succeeds writes it.
    ///
    /// If the file would become too large, only cookies that are never written change.
    func updateMemory(account: String, _ change: @Sendable (inout CookieJar) -> Void) throws(CookieStoreError) {
        try refresh()
        var (changed, jar) = changing(account, change)
        if try content(of: changed).data(path: path).count > Self.maximumByteCount {
            let inMemory = jar.cookies.filter { !isWritten($0) }
            let inFile = (jars[account]?.cookies ?? []).filter { cookie in
                isWritten(cookie) && !inMemory.contains { $0.isSame(as: cookie) }
            }
            jar.cookies = (inFile + inMemory).sorted { $0.order < $1.order }
            changed[account] = jar.cookies.isEmpty ? nil : jar
        }
        if written == nil { written = lasting(jars) }
        jars = changed
    }

    /// Returns the jars with a change of an account, and the jar of that account.
    private func changing(
        _ account: String,
        _ change: (inout CookieJar) -> Void
    ) -> (jars: [String: CookieJar], jar: CookieJar) {
        var (changed, jar) = (jars, jars[account] ?? CookieJar())
        change(&jar)
        changed[account] = jar.cookies.isEmpty ? nil : jar
        return (changed, jar)
    }

    /// Removes the file and all jars, without reading it; returns `false` if another store has the lock.
    func tryRemoveFile() throws(CookieStoreError) -> Bool {
        try withLock { () throws(CookieStoreError) in
            for path in [path + ".tmp", path] where unlink(path) != 0 && errno != ENOENT {
                throw CookieStoreError(.notWritable, path: self.path, .current)
            }
            (jars, current, written) = ([:], nil, nil)
        }
    }

    /// Runs a closure while no other store has the lock; returns `false` at once if one has it.
    ///
    /// The cookie file itself cannot be locked, because each change replaces it. The lock file beside it is never
    /// removed: another process might have just opened it.
    private func withLock(_ body: () throws(CookieStoreError) -> Void) throws(CookieStoreError) -> Bool {
        let file: OpenFile
        do throws(POSIXError) {
            try OpenFile.createFolder(OpenFile.folder(of: path))
            file = try OpenFile(path + ".lock", O_RDWR | O_CREAT | O_NONBLOCK)
            guard try file.tryLock() else { return false }
        } catch {
            throw CookieStoreError(.notWritable, path: path, error)
        }
        defer { file.unlock() }
        try body()
        return true
    }

    private func content(of jars: [String: CookieJar]) -> CookieFileContent {
        CookieFileContent(jars, where: isWritten)
    }

    private func isWritten(_ cookie: CookieJar.Cookie) -> Bool { keepsSessionCookies || cookie.expiry != nil }

    /// Returns the jars with the cookies that are written to the file.
    private func lasting(_ jars: [String: CookieJar]) -> [String: CookieJar] {
        jars.mapValues { jar in
            var jar = jar
            jar.removeAll { !isWritten($0) }
            return jar
        }
    }

    // MARK: Reading

    private typealias Version = (file: OpenFile, identity: OpenFile.Identity)

    /// Reads the file unless it is unchanged since the last time.
    private func refresh() throws(CookieStoreError) {
        let identity: OpenFile.Identity?
        do throws(POSIXError) {
            identity = try OpenFile.identity(of: path)
        } catch {
            throw CookieStoreError(.unreadable, path: path, error)
        }
        guard identity != current?.identity else { return }
        var stored: [String: CookieJar] = [:]
        var version: Version?
        if identity != nil {
            let (found, data) = try read()
            version = found
            stored = lasting(try CookieFileContent.jars(from: data, path: path))
        }
        let merged = addingMemory(to: stored)
        if written != nil { written = stored }
        (jars, current) = (merged, version)
    }

    private func read() throws(CookieStoreError) -> (Version, Data) {
        let version: Version
        let data: Data
        do throws(POSIXError) {
            let file = try OpenFile(path, O_RDONLY | O_NONBLOCK)
            version = (file, try file.identity)
            data = try file.content(upTo: Self.maximumByteCount + 1)
        } catch {
            throw CookieStoreError(.unreadable, path: path, error)
        }
        guard data.count <= Self.maximumByteCount else { throw CookieStoreError(.tooLarge, path: path) }
        return (version, data)
    }

    /// Returns the jars of the file with what is only in memory: cookies of the session, and changes not yet written.
    ///
    /// A cookie that another store has changed meanwhile is that of the file.
    private func addingMemory(to stored: [String: CookieJar]) -> [String: CookieJar] {
        let known = written ?? lasting(jars)
        var result = stored
        for account in Set(jars.keys).union(known.keys) {
            let (old, new) = (known[account] ?? CookieJar(), jars[account] ?? CookieJar())
            guard old.cookies != new.cookies else { continue }
            let merged = (stored[account] ?? CookieJar()).changed(from: old, to: new)
            result[account] = merged.cookies.isEmpty ? nil : merged
        }
        return result
    }

    // MARK: Writing

    /// Replaces the file; the lock must be held, because there is only one name for temporary files.
    private func write(_ content: CookieFileContent) throws(CookieStoreError) {
        let data = try content.data(path: path)
        guard data.count <= Self.maximumByteCount else { throw CookieStoreError(.tooLarge, path: path) }
        do throws(POSIXError) {
            let file = try OpenFile.replace(path, with: data)
            (current, written) = ((file, try file.identity), nil)
        } catch {
            throw CookieStoreError(.notWritable, path: path, error)
        }
    }
}

extension CookieJar {
    /// Returns this jar with the difference between two others, except for cookies that here are not as in the old one.
    fileprivate func changed(from old: CookieJar, to new: CookieJar) -> CookieJar {
        let (before, after) = (old.byIdentity, new.byIdentity)
        var result = byIdentity
        for identity in Set(before.keys).union(after.keys) {
            let known = before[identity]?.unused
            guard after[identity]?.unused != known, result[identity]?.unused == known else { continue }
            result[identity] = after[identity]
        }
        var jar = self
        jar.cookies = result.values.sorted { $0.order < $1.order }
        jar.nextOrder = max(nextOrder, new.nextOrder)
        return jar
    }

    private var byIdentity: [[[UInt8]]: Cookie] {
        Dictionary(cookies.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
