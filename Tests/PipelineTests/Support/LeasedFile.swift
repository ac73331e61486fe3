import Testing

#if os(Linux)
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file whose opening blocks until the lease is released, as on a disk that has stalled.
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
        // A signal that is ignored by default, else the process would be stopped.
        _ = fcntl(descriptor, Self.setSignal, SIGURG)
        guard descriptor >= 0, fcntl(descriptor, Self.setLease, F_WRLCK) == 0 else { throw TestFailure() }
    }

    deinit { _ = close(descriptor) }

    /// Whether a thread waits for the file.
    var isWaitedFor: Bool { fcntl(descriptor, Self.getLease, 0) != F_WRLCK }

    func release() { _ = fcntl(descriptor, Self.setLease, F_UNLCK) }
}

/// How many descriptors of this process are a file.
func openCount(of file: URL) -> Int {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let path = file.resolvingSymlinksInPath().path
    return all.count { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        return target == path || target == path + " (deleted)"
    }
}
#endif
