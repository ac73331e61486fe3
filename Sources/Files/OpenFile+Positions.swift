public import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

extension OpenFile {
    /// The current length of the file.
    public var byteCount: Int { get throws(POSIXError) { Int(try positionStatus.st_size) } }

    /// Whether the file still has a name.
    public var isLinked: Bool { get throws(POSIXError) { try positionStatus.st_nlink > 0 } }

    private var positionStatus: stat {
        get throws(POSIXError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .current }
            return status
        }
    }

    /// Returns bytes from a position on, at most a number of them; empty at the end.
    public func content(at offset: Int, upTo byteCount: Int) throws(POSIXError) -> Data {
        var data = Data(count: byteCount)
        while true {
            let count = data.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
            if count < 0 {
                guard errno == EINTR else { throw .current }
                continue
            }
            data.removeSubrange(count...)
            return data
        }
    }
}
