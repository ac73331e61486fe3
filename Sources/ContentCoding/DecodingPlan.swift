public import Foundation
public import Pipeline

/// What has to be undone, and within which limits.
public struct DecodingPlan: Sendable {
    /// In the order in which the server has applied them.
    let codings: [ContentCoding]
    let limits: DecodingLimits

    /// - Parameters:
    ///   - codings: in the order in which the server has applied them.
    ///   - limits: how far the body may grow.
    public init(codings: [ContentCoding], limits: DecodingLimits) {
        self.codings = codings
        self.limits = limits
    }

    /// Decodes a body that is in memory into memory.
    ///
    /// - Throws: `PipelineError`, `CancellationError`.
    public func decode(_ data: Data, upTo byteLimit: Int) async throws -> Data {
        guard !data.isEmpty else { return data }
        var chain = DecoderChain(self, byteLimit: byteLimit)
        chain.feed(data)
        chain.feedEnd()
        var output = ByteBuffer(capacity: likelyByteCount(of: data, upTo: byteLimit))
        while true {
            try Task.checkCancellation()
            let count = try chain.read(into: output.room(upTo: Self.stepByteCount))
            guard count > 0 else { return output.finish() }
            output.count += count
        }
    }

    /// The decoded body, piece by piece; it can be read again when the coded one can.
    public func decodedStream(of body: PipelineBody) -> PipelineBody {
        guard body.isReplayable else { return .stream(DecodedChunks(body: body, plan: self)) }
        return .stream(replaying: { DecodedChunks(body: body, plan: self) })
    }

    /// How many bytes may be made of so many, each stage of codings by itself.
    func allowedByteCount(from arrivedByteCount: Int) -> Int {
        let (count, isTooLarge) = arrivedByteCount.multipliedReportingOverflow(by: limits.ratio)
        return isTooLarge ? .max : max(limits.ratioFreeByteCount, count)
    }

    /// How many bytes will come out if nothing is wrong, and one more, so that the end is met with room left.
    private func likelyByteCount(of data: Data, upTo byteLimit: Int) -> Int {
        let most = min(byteLimit, allowedByteCount(from: data.count), 64 << 20)
        guard codings == [.gzip], data.count >= 18 else { return min(data.count * 4, most) }
        // A member ends in its length, in 32 bits (RFC 1952 §2.3.1); room that is not used takes no memory.
        let length = data.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return min(length, most - 1) + 1
    }

    private static let stepByteCount = 1 << 20
}
