import CZlib
import Foundation
import Pipeline

/// Content codings, encoded and decoded by zlib itself, and their parts for editing.
enum GzipBytes {
    static func gzip(_ data: Data, level: Int32 = 6) -> Data { encode(data, windowBits: 31, level) }
    static func zlib(_ data: Data) -> Data { encode(data, windowBits: 15, 6) }
    static func raw(_ data: Data, level: Int32 = 6) -> Data { encode(data, windowBits: -15, level) }

    /// A member with a custom header.
    static func member(_ data: Data, flags: UInt8, method: UInt8 = 8, fields: Data = Data()) -> Data {
        Data([0x1f, 0x8b, method, flags, 0, 0, 0, 0, 0, 3]) + fields + raw(data) + trailer(of: data)
    }

    static func trailer(of data: Data) -> Data {
        littleEndian(sum(of: data)) + littleEndian(UInt32(truncatingIfNeeded: data.count))
    }

    /// The checksum of a header (FHCRC).
    static func headerSum(of header: Data) -> Data { littleEndian(sum(of: header)).prefix(2) }

    private static func sum(of data: Data) -> UInt32 {
        let sum = data.withUnsafeBytes { crc32_z(0, $0.bindMemory(to: Bytef.self).baseAddress, $0.count) }
        return UInt32(truncatingIfNeeded: sum)
    }

    static func littleEndian(_ number: UInt32) -> Data {
        Data((0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }

    /// A block of a raw stream that expands to 1 MiB of zeros and can be repeated.
    static let bombBlock: Data = {
        var stream = z_stream()
        deflateInit2_(
            &stream,
            9,
            Z_DEFLATED,
            -15,
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        defer { deflateEnd(&stream) }
        return run(&stream, Data(count: 1 << 20), flush: Z_FULL_FLUSH)
    }()

    /// The beginning of a bomb; blocks follow.
    static let bombHead = Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])

    /// Text that compresses about as well as JSON does.
    static func json(_ byteCount: Int, seed: UInt64 = 1) -> Data {
        let random = PipelineRandom.seeded(seed)
        var text = Data()
        var id = 0
        while text.count < byteCount {
            let number = random.next()
            text += Data(
                #"{"id":\#(id),"name":"item \#(number % 1_000)","price":\#(number % 9_973).5,"tags":["a\#(number >> 60)"]},"#
                    .utf8
            )
            id += 1
        }
        return text.prefix(byteCount)
    }

    static func noise(_ byteCount: Int, seed: UInt64 = 1) -> Data {
        let random = PipelineRandom.seeded(seed)
        return Data((0..<byteCount).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }

    /// Returns the content of a gzip member, or `nil` if the data is not valid.
    static func gunzip(_ data: Data) -> Data? {
        var stream = z_stream()
        guard inflateInit2_(&stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var input = [UInt8](data)
        var output = Data()
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var status = Z_OK
        input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            while status == Z_OK {
                piece.withUnsafeMutableBufferPointer { target in
                    stream.next_out = target.baseAddress
                    stream.avail_out = UInt32(target.count)
                    status = inflate(&stream, Z_NO_FLUSH)
                }
                output += piece.prefix(piece.count - Int(stream.avail_out))
            }
        }
        return status == Z_STREAM_END && stream.avail_in == 0 ? output : nil
    }

    private static func encode(_ data: Data, windowBits: Int32, _ level: Int32) -> Data {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(&stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        defer { deflateEnd(&stream) }
        return run(&stream, data, flush: Z_FINISH)
    }

    private static func run(_ stream: inout z_stream, _ data: Data, flush: Int32) -> Data {
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))) + 64)
        let count = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                deflate(&stream, flush)
                return Int(stream.total_out)
            }
        }
        return Data(output[..<count])
    }
}
