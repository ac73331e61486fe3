#if Compression
import CZstd
import PipelineCore

/// A decoder of zstd that decodes frame after frame, with windows of at most 8 MiB.
///
/// Source: RFC 8878, https://www.rfc-editor.org/rfc/rfc8878.html,
/// RFC 9659 §3, https://www.rfc-editor.org/rfc/rfc9659.html#section-3
final class ZstdDecoder: ContentDecoder {
    private let decoder = ZSTD_createDStream()
    private var frameCount = 0
    /// The number of bytes taken of the current frame; `nil` between frames.
    private var takenOfFrame: Int?

    init() {
        if let decoder { ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, 23) }
    }

    deinit { ZSTD_freeDStream(decoder) }

    func decode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> (taken: Int, put: Int) {
        guard let decoder else { throw PipelineError(.contentCoding(.decoder), "zstd has not begun to decode") }
        // Between frames, zstd would begin another one.
        guard !input.isEmpty || takenOfFrame != nil else { return (0, 0) }
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let rest = ZSTD_decompressStream(decoder, &target, &source)
        let taken = (takenOfFrame ?? 0) + source.pos
        guard ZSTD_isError(rest) == 0 else {
            throw isMagicOfLaterFrame(taken) ? PipelineError.trailingContent : PipelineError.corruptContent
        }
        takenOfFrame = rest == 0 ? nil : taken
        if rest == 0 { frameCount += 1 }
        return (source.pos, target.pos)
    }

    func finish() throws {
        guard let takenOfFrame else { return }
        throw isMagicOfLaterFrame(takenOfFrame) ? PipelineError.trailingContent : PipelineError.truncatedContent
    }

    /// Whether the error is in the magic number after a complete frame: what follows is trailing data.
    private func isMagicOfLaterFrame(_ taken: Int) -> Bool { frameCount > 0 && taken <= 4 }
}
#endif
