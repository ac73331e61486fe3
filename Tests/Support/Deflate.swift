import CZlib
package import Foundation

/// Encodes content with zlib.
package enum Deflate {
    package static func gzip(_ data: Data) -> Data { encode(data, windowBits: 15 + 16) }

    package static func zlib(_ data: Data) -> Data { encode(data, windowBits: 15) }

    private static func encode(_ data: Data, windowBits: Int32) -> Data {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard deflateInit2_(&stream, 6, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { return Data() }
        defer { deflateEnd(&stream) }
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))) + 64)
        let count = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                deflate(&stream, Z_FINISH)
                return Int(stream.total_out)
            }
        }
        return Data(output[..<count])
    }
}
