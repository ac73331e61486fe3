import Foundation
import Pipeline

/// What has to be undone, and within which limits.
struct DecodingPlan: Sendable {
    /// In the order in which the server has applied them.
    let codings: [ContentCoding]
    let limits: GzipPlugin.Limits

    /// Decodes a body that is in memory into memory.
    ///
    /// - Throws: `PipelineError`, `CancellationError`.
    func decode(_ data: Data, upTo byteLimit: Int) async throws -> Data {
        guard !data.isEmpty else { return data }
        var chain = DecoderChain(self, byteLimit: byteLimit)
        chain.feed(data)
        chain.feedEnd()
        var output = ByteBuffer(capacity: min(max(data.count, 8 << 10) * 4, 1 << 20))
        while true {
            try Task.checkCancellation()
            let count = try chain.read(into: output.room(upTo: Self.stepByteCount))
            guard count > 0 else { return output.finish() }
            output.count += count
        }
    }

    /// The decoded body, piece by piece; it can be read again when the coded one can.
    func decodedStream(of body: PipelineBody) -> PipelineBody {
        guard body.isReplayable else { return .stream(DecodedChunks(body: body, plan: self)) }
        return .stream(replaying: { DecodedChunks(body: body, plan: self) })
    }

    private static let stepByteCount = 256 << 10
}
