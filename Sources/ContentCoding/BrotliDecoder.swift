#if Compression
import CBrotli
import PipelineCore

/// A decoder of br, with windows of at most 16 MiB.
///
/// Source: RFC 7932, https://www.rfc-editor.org/rfc/rfc7932.html
final class BrotliDecoder: ContentDecoder {
    private let decoder = BrotliDecoderCreateInstance(nil, nil, nil)
    private var hasBegun = false
    private var isEnded = false

    deinit { BrotliDecoderDestroyInstance(decoder) }

    func decode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> (taken: Int, put: Int) {
        guard let decoder else { throw PipelineError(.contentCoding(.decoder), "brotli has not begun to decode") }
        guard !input.isEmpty || hasBegun else { return (0, 0) }
        guard !isEnded else {
            guard input.isEmpty else { throw PipelineError.trailingContent }
            return (0, 0)
        }
        hasBegun = true
        var rest = (input: input.count, output: output.count)
        var source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var target = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        switch BrotliDecoderDecompressStream(decoder, &rest.input, &source, &rest.output, &target, nil) {
        case BROTLI_DECODER_RESULT_ERROR: throw PipelineError.corruptContent
        case BROTLI_DECODER_RESULT_SUCCESS: isEnded = true
        default: break
        }
        return (input.count - rest.input, output.count - rest.output)
    }

    func finish() throws {
        if hasBegun, !isEnded { throw PipelineError.truncatedContent }
    }
}
#endif
