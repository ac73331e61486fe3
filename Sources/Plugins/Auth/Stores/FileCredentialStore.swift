public import Foundation
public import PipelineCore
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

/// A store that keeps credentials in one file, which only its user can read.
///
/// ```swift
/// let store = FileCredentialStore(.homeDirectory.appending(path: ".config/reports/credentials.json"))
/// ```
///
/// **Effects**: reads the file each time, so a change of another process is seen. A change writes a temporary file of
/// mode 0600, which then replaces the file. A folder that does not exist is created with mode 0700. Several stores and
/// processes can share a file on a local volume; changes of different keys do not affect each other, and of two changes
/// of one key the last one remains. Files with the suffixes `.lock` and `.tmp` are kept beside the file. A change waits
/// up to 10 s for the lock, on a queue of the store.
///
/// **Errors**: ``CredentialStoreError``. A file that cannot be understood is never overwritten. A file that other users
/// can read or write is refused.
///
/// **Secrets**: the file contains the credentials as plain text. Exclude it from backups. A symbolic link is not
/// followed, and a file of another user, except root, is refused.
public actor FileCredentialStore: CredentialStore {
    private struct Content: Codable {
        var format = "pipeline-credentials"
        var version = 1
        var credentials: [String: Data] = [:]
    }

    private static let maximumByteCount = 1 << 20
    private static let patience = Duration.seconds(10)

    private let executor = BlockingExecutor(label: "pipeline.credentials")
    /// The queue on which the store reads and writes.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let path: String
    private let name: String

    /// Creates a store; touches no file.
    ///
    /// - Parameter file: the file URL of the file, which does not have to exist; at most 1 MiB.
    public init(_ file: URL) {
        precondition(file.isFileURL, "the URL of a credential file has the scheme \(file.scheme ?? "nil"), not file")
        path = file.path(percentEncoded: false)
        name = file.lastPathComponent
    }

    /// Returns the credential under a key; `nil` if there is none.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func load(_ key: String) throws -> Data? { try read().credentials[key] }

    /// Stores a credential under a key.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func save(_ credential: Data, for key: String) throws {
        try change { $0.credentials[key] = credential }
    }

    /// Removes the credential under a key; does nothing if there is none.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func remove(_ key: String) throws {
        guard try read().credentials[key] != nil else { return }
        try change { $0.credentials[key] = nil }
    }

    private func error(_ code: CredentialStoreError.Code, _ error: POSIXError? = nil) -> CredentialStoreError {
        CredentialStoreError(code, name, error.map { Int($0.code.rawValue) })
    }

    private func read() throws(CredentialStoreError) -> Content {
        let data: Data
        let isPrivate: Bool
        do throws(POSIXError) {
            guard try OpenFile.identity(of: path) != nil else { return Content() }
            let file = try OpenFile(path, O_RDONLY | O_NONBLOCK)
            isPrivate = try file.isPrivate
            data = isPrivate ? try file.content(upTo: Self.maximumByteCount + 1) : Data()
        } catch {
            throw self.error(.unreadable, error)
        }
        guard isPrivate else { throw error(.exposed) }
        if data.isEmpty { return Content() }
        let expected = Content()
        guard data.count <= Self.maximumByteCount, let content = try? JSONDecoder().decode(Content.self, from: data),
            content.format == expected.format, content.version == expected.version
        else { throw error(.malformed) }
        return content
    }

    private func change(_ change: (inout Content) -> Void) throws {
        let lock = try takeLock()
        defer { lock.unlock() }
        var content = try read()
        change(&content)
        guard let data = try? JSONEncoder().encode(content), data.count <= Self.maximumByteCount else {
            throw error(.notWritable)
        }
        do throws(POSIXError) {
            _ = try OpenFile.replace(path, with: data)
        } catch {
            throw self.error(.notWritable, error)
        }
    }

    private func takeLock() throws -> OpenFile {
        do throws(POSIXError) {
            try OpenFile.createFolder(OpenFile.folder(of: path))
            let file = try OpenFile(path + ".lock", O_RDWR | O_CREAT | O_NONBLOCK)
            let deadline = ContinuousClock.now + Self.patience
            while try !file.tryLock() {
                guard ContinuousClock.now < deadline else { throw POSIXError(.EWOULDBLOCK) }
                usleep(1_000)
            }
            return file
        } catch {
            throw self.error(error.code == .EWOULDBLOCK ? .locked : .notWritable, error)
        }
    }
}

extension FileCredentialStore: SafelyDescribed {
    /// The name of the file.
    public nonisolated var description: String { "credentials in the file \(name.debugDescription)" }
}
