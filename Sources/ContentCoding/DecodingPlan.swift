public import Foundation
public import PipelineCore

/// The codings to decode, and the limits that apply.
public struct DecodingPlan: Sendable {
    /// The codings in the order in which the server applied them.
    let codings: [ContentCoding]
    let ratio: Int
    private let ratioFreeByteCount: Int

    /// Makes a plan.
    ///
    /// - Parameters:
    ///   - codings: the codings in the order in which the server applied them.
    ///   - ratio: the maximum ratio of decoded bytes to encoded bytes.
    ///   - ratioFreeByteCount: the number of decoded bytes up to which the ratio is ignored.
    public init(codings: [ContentCoding], ratio: Int, ratioFreeByteCount: Int) {
        self.codings = codings
        self.ratio = ratio
        self.ratioFreeByteCount = ratioFreeByteCount
    }

    /// Returns a body decoded in memory.
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

    /// Returns the decoded body as a stream, which can be replayed if the encoded body can.
    ///
    /// - Parameters:
    ///   - body: the encoded body.
    ///   - onFailure: gets the error if the body cannot be read or decoded, before the reader does.
    /// - Returns: the decoded body.
    public func decodedStream(
        of body: PipelineBody,
        onFailure: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> PipelineBody {
        let chunks = DecodedChunks(body: body, plan: self, onFailure: onFailure)
        return body.isReplayable ? .stream(replaying: { chunks }) : .stream(chunks)
    }

    /// Returns how many bytes each stage may decode from the given number of bytes that arrived.
    func allowedByteCount(from arrivedByteCount: Int) -> Int {
        let (count, isTooLarge) = arrivedByteCount.multipliedReportingOverflow(by: ratio)
        return isTooLarge ? .max : max(ratioFreeByteCount, count)
    }

    /// Estimates the decoded size, plus one byte so that there is room left when the end is reached.
    private func likelyByteCount(of data: Data, upTo byteLimit: Int) -> Int {
        let most = min(byteLimit, allowedByteCount(from: data.count), 64 << 20)
        guard codings == [.gzip], data.count >= 18 else { return min(data.count * 4, most) }
        // A member ends with its length in 32 bits (RFC 1952 §2.3.1); unused space takes up no memory.
        let length = data.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return min(length, most - 1) + 1
    }

    private static let stepByteCount = 1 << 20
}
