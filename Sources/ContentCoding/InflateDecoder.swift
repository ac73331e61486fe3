import CZlib
import PipelineCore

/// A decoder of gzip, and of deflate with or without the zlib wrapper.
///
/// Source: RFC 1952, https://www.rfc-editor.org/rfc/rfc1952.html, RFC 1950, RFC 1951,
/// RFC 9110 §8.4.1, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.4.1
final class InflateDecoder: ContentDecoder {
    private enum State {
        case start
        case member
        case between
        case padding
    }

    private let isGzip: Bool
    /// A pointer, because zlib rejects a stream that has moved in memory.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false
    private var state = State.start
    private var memberCount = 0

    /// - Parameter isGzip: whether the coding is gzip; otherwise it is deflate.
    init(isGzip: Bool) {
        self.isGzip = isGzip
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
    }

    func decode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> (taken: Int, put: Int) {
        var taken = 0
        var put = 0
        while put < output.count, taken < input.count || state == .member {
            switch state {
            case .start:
                try open(before: input[taken])
                state = .member
            case .member:
                let step = try inflateMember(input[taken...], output[put...])
                taken += step.taken
                put += step.put
                if state == .member, taken == input.count || step == (0, 0) { return (taken, put) }
            case .between:
                try beginAfterMember(with: input[taken])
            case .padding:
                guard input[taken...].allSatisfy({ $0 == 0 }) else { throw PipelineError.trailingContent }
                taken = input.count
            }
        }
        return (taken, put)
    }

    func finish() throws {
        guard state == .member else { return }
        if memberCount > 0, stream.pointee.total_in < 2 { throw PipelineError.trailingContent }
        throw PipelineError.truncatedContent
    }

    private func open(before byte: UInt8) throws {
        // A raw block that begins like this would be stored with nonzero padding, which no compressor produces.
        let windowBits = isGzip ? 16 + MAX_WBITS : byte & 0x8f == 0x08 ? MAX_WBITS : -MAX_WBITS
        let status = inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            throw PipelineError(.contentCoding(.decoder), "zlib has not begun to decode: \(status)")
        }
        isOpen = true
    }

    private func beginAfterMember(with byte: UInt8) throws {
        if byte == 0 {
            state = .padding
        } else if byte == 0x1f, isGzip {
            inflateReset(stream)
            state = .member
        } else {
            throw PipelineError.trailingContent
        }
    }

    private func inflateMember(
        _ input: Slice<UnsafeRawBufferPointer>,
        _ output: Slice<UnsafeMutableRawBufferPointer>
    ) throws -> (taken: Int, put: Int) {
        let input = UnsafeRawBufferPointer(rebasing: input)
        let output = UnsafeMutableRawBufferPointer(rebasing: output)
        let room = (input: min(input.count, Self.maximumStep), output: min(output.count, Self.maximumStep))
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self))
        stream.pointee.avail_in = UInt32(room.input)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = UInt32(room.output)
        switch inflate(stream, Z_NO_FLUSH) {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END:
            memberCount += 1
            state = .between
        case Z_MEM_ERROR:
            throw PipelineError(.contentCoding(.decoder), "no memory is left to decode the body")
        default:
            // After a complete member, two bytes that do not begin another one are trailing data.
            throw memberCount > 0 && stream.pointee.total_in <= 2
                ? PipelineError.trailingContent : PipelineError.corruptContent
        }
        return (room.input - Int(stream.pointee.avail_in), room.output - Int(stream.pointee.avail_out))
    }

    /// zlib counts bytes in 32 bits.
    private static let maximumStep = 1 << 30
}
