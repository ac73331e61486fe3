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

/// The lock that all stores of a cookie file take for a change: an advisory lock of a file beside it.
///
/// The cookie file itself cannot be locked, because each change replaces it. The lock file is never removed: another
/// process might have just opened it.
struct CookieFileLock: Sendable {
    private let path: String
    private let filePath: String

    init(_ filePath: String) {
        path = filePath + ".lock"
        self.filePath = filePath
    }

    /// Runs a closure while no other store has the lock; returns `false` at once if one has it.
    func tryLock(_ body: () throws(CookieStoreError) -> Void) throws(CookieStoreError) -> Bool {
        let file: OpenFile
        do throws(POSIXError) {
            try OpenFile.createFolder(OpenFile.folder(of: path))
            file = try OpenFile(path, O_RDWR | O_CREAT | O_NONBLOCK)
            guard try file.tryLock() else { return false }
        } catch {
            throw CookieStoreError(.notWritable, path: filePath, error)
        }
        defer { file.unlock() }
        try body()
        return true
    }
}
