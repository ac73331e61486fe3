import CZlib
import PipelineCore

/// An encoder that writes one gzip member piece by piece.
///
/// The same input in the same pieces gives the same output.
///
/// Source: RFC 1952, https://www.rfc-editor.org/rfc/rfc1952.html
final class GzipEncoder {
    /// Held by pointer, because zlib rejects a stream that has moved.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter level: from 1, the fastest, to 9, the smallest.
    /// - Throws: `PipelineError` with code `encoding`.
    init(level: Int) throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // If no header is set, zlib writes one without a time or a name.
        let size = Int32(MemoryLayout<z_stream>.size)
        let windowBits = 16 + MAX_WBITS
        let status = deflateInit2_(
            stream,
            Int32(level),
            Z_DEFLATED,
            windowBits,
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            size
        )
        guard status == Z_OK else { throw PipelineError(.encoding, "zlib has not begun to compress: \(status)") }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses until the input is used up or the output is full.
    ///
    /// - Parameters:
    ///   - input: the bytes after those already taken.
    ///   - output: the buffer to write to, at least one byte long.
    ///   - isLast: whether this is the end of the input.
    /// - Returns: the number of bytes taken and written, and whether the member has ended.
    func encode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        isLast: Bool
    ) -> (taken: Int, put: Int, isEnded: Bool) {
        let room = (input: min(input.count, Self.maximumStep), output: min(output.count, Self.maximumStep))
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self))
        stream.pointee.avail_in = UInt32(room.input)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = UInt32(room.output)
        let status = deflate(stream, isLast && room.input == input.count ? Z_FINISH : Z_NO_FLUSH)
        let taken = room.input - Int(stream.pointee.avail_in)
        let put = room.output - Int(stream.pointee.avail_out)
        return (taken, put, status == Z_STREAM_END)
    }

    /// The most bytes per step, after which a cancellation is noticed.
    private static let maximumStep = 256 << 10
}
