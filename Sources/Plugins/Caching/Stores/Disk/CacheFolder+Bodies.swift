#if SQLite || canImport(Darwin)
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

/// The files of bodies, each named after the identifier of its entry and a random number.
///
/// The number distinguishes two bodies that are written for one identifier. A writer locks its file until the database
/// contains it, so a file that can be locked and is not in the database belongs to a process that has ended.
extension CacheFolder {
    private static let suffix = ".body"

    /// Creates the file of a body and takes its lock.
    func makeBody(_ id: UUID) throws(POSIXError) -> (name: String, file: OpenFile) {
        for _ in 0..<3 {
            let name = "\(id.uuidString)-\(String(UInt32.random(in: 0 ... .max), radix: 16))\(Self.suffix)"
            let file = try OpenFile(path(of: name), O_WRONLY | O_CREAT | O_EXCL)
            // Another process may find the file before it is locked, and remove it.
            if try file.tryLock(), try file.isLinked { return (name, file) }
        }
        throw POSIXError(.EWOULDBLOCK)
    }

    /// Opens the file of a body; returns `nil` if it is missing or does not have the length.
    ///
    /// Bodies are not synchronized with the disk: after a power failure a file may be shorter than its row says, and
    /// counts as missing.
    func openBody(_ name: String, byteCount: Int) throws(POSIXError) -> OpenFile? {
        do throws(POSIXError) {
            let file = try OpenFile(path(of: name), O_RDONLY | O_NONBLOCK)
            return try file.byteCount == byteCount ? file : nil
        } catch {
            switch error.code {
            case .ENOENT, .ELOOP, .EINVAL, .ENOTDIR: return nil
            default: throw error
            }
        }
    }

    /// Returns the identifier in the name of a body's file; `nil` if it is another file.
    private static func id(in name: String) -> UUID? {
        name.hasSuffix(suffix) ? UUID(uuidString: String(name.prefix(36))) : nil
    }

    /// Removes the files of bodies that a process has left when it was killed.
    ///
    /// The database contains the files `known`, and perhaps later ones; `currentName` returns that of an entry.
    func removeOrphans(
        known: Set<String>,
        currentName: (UUID) throws(SQLiteError) -> String?
    ) throws(SQLiteError) {
        guard let names = try? names else { return }
        for name in names where !known.contains(name) {
            guard let id = Self.id(in: name), let file = try? OpenFile(path(of: name), O_RDONLY | O_NONBLOCK),
                let isLocked = try? file.tryLock(), isLocked
            else { continue }
            if try currentName(id) != name { remove(name) }
            file.unlock()
        }
    }
}
#endif
