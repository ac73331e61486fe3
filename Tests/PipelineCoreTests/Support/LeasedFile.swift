import Testing

#if os(Linux)
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A file that cannot be opened until the lease is released, as on a stalled disk.
///
/// Source: fcntl(2), *Leases*.
final class LeasedFile: Sendable {
    private static let setSignal: Int32 = 10
    private static let setLease: Int32 = 1024
    private static let getLease: Int32 = 1025

    private let descriptor: Int32

    /// Takes the lease; nothing else may have the file open.
    init(_ url: URL) throws {
        descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        // SIGURG is ignored by default; the default signal would terminate the process.
        _ = fcntl(descriptor, Self.setSignal, SIGURG)
        guard descriptor >= 0, fcntl(descriptor, Self.setLease, F_WRLCK) == 0 else { throw TestFailure() }
    }

    deinit { _ = close(descriptor) }

    /// Whether a thread is waiting for the file.
    var isWaitedFor: Bool { fcntl(descriptor, Self.getLease, 0) != F_WRLCK }

    func release() { _ = fcntl(descriptor, Self.setLease, F_UNLCK) }
}

/// Returns how many descriptors of this process refer to a file.
func openCount(of file: URL) -> Int {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let path = file.resolvingSymlinksInPath().path
    return all.count { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        return target == path || target == path + " (deleted)"
    }
}
#endif
