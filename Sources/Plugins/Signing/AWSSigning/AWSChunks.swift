#if Crypto || canImport(CryptoKit)
import Foundation
import PipelineCore

/// A body in the coding `aws-chunked`, in which each chunk has a signature.
///
/// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
struct AWSChunks: AsyncSequence, Sendable {
    typealias Element = Data

    /// S3 accepts chunks of 8 KiB and more; only the last may be shorter.
    static let chunkByteCount = 65_536

    let body: PipelineBody
    let key: AWSSigningKey
    /// The signature of the request.
    let seed: String

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(key, seed, body.chunks().makeAsyncIterator()) }

    /// Returns the length of a body in this coding.
    static func encodedByteCount(of byteCount: Int) -> Int {
        let (whole, rest) = byteCount.quotientAndRemainder(dividingBy: chunkByteCount)
        return whole * frame(chunkByteCount) + (rest > 0 ? frame(rest) : 0) + frame(0)
    }

    private static func frame(_ byteCount: Int) -> Int {
        head(byteCount, String(repeating: "0", count: 64)).utf8.count + byteCount + 2
    }

    private static func head(_ byteCount: Int, _ signature: String) -> String {
        "\(String(byteCount, radix: 16));chunk-signature=\(signature)\r\n"
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        private let key: AWSSigningKey
        private var signature: String
        private var pieces: PipelineBody.Chunks.AsyncIterator
        private var pending = Data()
        private var hasEnded = false
        private var isFinished = false

        init(_ key: AWSSigningKey, _ seed: String, _ pieces: PipelineBody.Chunks.AsyncIterator) {
            self.key = key
            signature = seed
            self.pieces = pieces
        }

        mutating func next() async throws -> Data? {
            while pending.count < AWSChunks.chunkByteCount, !hasEnded {
                if let piece = try await pieces.next() { append(piece) } else { hasEnded = true }
            }
            guard !isFinished else { return nil }
            let chunk = pending.prefix(AWSChunks.chunkByteCount)
            pending = pending.dropFirst(chunk.count)
            isFinished = chunk.isEmpty
            signature = key.signature(ofChunk: chunk, after: signature)
            return Data(AWSChunks.head(chunk.count, signature).utf8) + chunk + Data("\r\n".utf8)
        }

        /// Appends a piece to the rest, which is copied if it is a slice that keeps the whole of an earlier piece.
        private mutating func append(_ piece: Data) {
            guard !pending.isEmpty else {
                pending = piece
                return
            }
            if pending.startIndex > 0 { pending = Data(pending) }
            pending.append(piece)
        }
    }
}
#endif
