import CZlib
import Foundation

/// A gzip member whose pieces can each be decoded as they arrive (Z_SYNC_FLUSH).
enum FlushedGzip {
    /// Returns the texts as pieces of one member, followed by its end.
    static func pieces(_ texts: [String]) -> [Data] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard deflateInit2_(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK else {
            return []
        }
        defer { deflateEnd(&stream) }
        var pieces: [Data] = []
        for text in texts { pieces.append(piece(&stream, Array(text.utf8), Z_SYNC_FLUSH)) }
        return pieces + [piece(&stream, [], Z_FINISH)]
    }

    private static func piece(_ stream: inout z_stream, _ bytes: [UInt8], _ flush: Int32) -> Data {
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count + 1_024)
        let count = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                deflate(&stream, flush)
                return target.count - Int(stream.avail_out)
            }
        }
        return Data(output[..<count])
    }
}
