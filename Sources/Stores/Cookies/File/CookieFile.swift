import Foundation

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
    private let lock: CookieFileLock

    private var jars: [String: CookieJar] = [:]
    /// The file that `jars` corresponds to; `nil` if there was none.
    ///
    /// It stays open so that the system cannot give its inode to a later version of the file.
    private var current: Version?
    /// Whether the file has a cookie that one in memory replaces, because it could not be written.
    private var isBehind = false

    init(_ path: String, keepsSessionCookies: Bool) {
        self.path = path
        self.keepsSessionCookies = keepsSessionCookies
        lock = CookieFileLock(path)
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
        try lock.tryLock { () throws(CookieStoreError) in
            try refresh()
            var changed = jars
            var jar = jars[account] ?? CookieJar()
            change(&jar)
            changed[account] = jar.cookies.isEmpty ? nil : jar
            let content = content(of: changed)
            if isBehind || !content.hasSameCookies(as: self.content(of: jars)) { try write(content) }
            jars = changed
        }
    }

    /// Makes the part of a change that concerns cookies in memory, because the file cannot be changed.
    func updateMemory(account: String, _ change: @Sendable (inout CookieJar) -> Void) throws(CookieStoreError) {
        guard !keepsSessionCookies else { return }
        try refresh()
        let old = jars[account] ?? CookieJar()
        var jar = old
        change(&jar)
        let inMemory = jar.cookies.filter { $0.expiry == nil }
        let inFile = old.cookies.filter { cookie in
            cookie.expiry != nil && !inMemory.contains { $0.isSame(as: cookie) }
        }
        if inFile.count < old.cookies.count(where: { $0.expiry != nil }) { isBehind = true }
        jar.cookies = (inFile + inMemory).sorted { $0.order < $1.order }
        jars[account] = jar.cookies.isEmpty ? nil : jar
    }

    /// Removes the file and all jars, without reading it; returns `false` if another store has the lock.
    func tryRemoveFile() throws(CookieStoreError) -> Bool {
        try lock.tryLock { () throws(CookieStoreError) in
            for path in [path + ".tmp", path] where unlink(path) != 0 && errno != ENOENT {
                throw CookieStoreError(.notWritable, path: self.path, .current)
            }
            (jars, current, isBehind) = ([:], nil, false)
        }
    }

    private func content(of jars: [String: CookieJar]) -> CookieFileContent {
        CookieFileContent(jars) { keepsSessionCookies || $0.expiry != nil }
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
        if identity == nil {
            jars = addingSessionCookies(to: [:])
            (current, isBehind) = (nil, false)
        } else {
            let (version, data) = try read()
            jars = addingSessionCookies(to: try CookieFileContent.jars(from: data, path: path))
            (current, isBehind) = (version, false)
        }
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

    /// Returns the jars of the file with the cookies that are only in memory.
    private func addingSessionCookies(to stored: [String: CookieJar]) -> [String: CookieJar] {
        guard !keepsSessionCookies else { return stored }
        var result = stored.mapValues { jar in
            var jar = jar
            jar.removeAll { $0.expiry == nil }
            return jar
        }
        for (account, old) in jars {
            var jar = result[account] ?? CookieJar()
            let added = old.cookies.filter { cookie in
                cookie.expiry == nil && !jar.cookies.contains { $0.isSame(as: cookie) }
            }
            guard !added.isEmpty else { continue }
            jar.cookies = (jar.cookies + added).sorted { $0.order < $1.order }
            jar.nextOrder = max(jar.nextOrder, old.nextOrder)
            result[account] = jar
        }
        return result
    }

    // MARK: Writing

    /// Replaces the file; the lock must be held, because there is only one name for temporary files.
    private func write(_ content: CookieFileContent) throws(CookieStoreError) {
        let data = try content.data(path: path)
        guard data.count <= Self.maximumByteCount else { throw CookieStoreError(.tooLarge, path: path) }
        let temporary = path + ".tmp"
        do throws(POSIXError) {
            _ = unlink(temporary)
            let file = try OpenFile(temporary, O_RDWR | O_CREAT | O_EXCL)
            do throws(POSIXError) {
                try file.append(data)
                try file.synchronize()
                let version = (file, try file.identity)
                guard rename(temporary, path) == 0 else { throw POSIXError.current }
                (current, isBehind) = (version, false)
            } catch {
                _ = unlink(temporary)
                throw error
            }
        } catch {
            throw CookieStoreError(.notWritable, path: path, error)
        }
        // The file is complete without this, but a power failure could bring back the previous one.
        OpenFile.synchronizeFolder(CookieFileLock.folder(of: path))
    }
}
