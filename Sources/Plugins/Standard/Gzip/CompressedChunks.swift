import Foundation
import PipelineCore

/// The pieces of a body, compressed on demand.
struct CompressedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let body: PipelineBody
    let level: Int

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: body, level: level)
    }

    /// Returns the gzip data; `nil` if it would not be smaller than a limit.
    func collect(below limit: Int) async throws -> Data? {
        var output = Data()
        for try await piece in self {
            output += piece
            guard output.count < limit else { return nil }
        }
        return output
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        private let body: PipelineBody
        private let level: Int
        private var upstream: PipelineBody.Chunks.AsyncIterator
        private var encoder: GzipEncoder?
        private var output = Data(count: pieceByteCount)
        private var input = Data()
        private var arrivedCount = 0
        private var hasAllInput = false
        private var isEnded = false

        init(body: PipelineBody, level: Int) {
            self.body = body
            self.level = level
            upstream = body.chunks().makeAsyncIterator()
        }

        mutating func next() async throws -> Data? {
            while !isEnded {
                // A body that was cut short by a cancellation must not look complete.
                try Task.checkCancellation()
                if input.isEmpty, !hasAllInput { try await fill() }
                if let piece = try compress() { return piece }
            }
            return nil
        }

        private mutating func fill() async throws {
            if let chunk = try await upstream.next() {
                input = chunk
                arrivedCount += chunk.count
                return
            }
            // The same goes for the network. The upstream may end because the task was cancelled meanwhile.
            try Task.checkCancellation()
            if let announced = body.byteCount, announced != arrivedCount {
                throw PipelineError(.bodyChanged, "\(arrivedCount) of \(announced) bytes were there to compress")
            }
            hasAllInput = true
        }

        /// Returns the next compressed piece; `nil` if more input is needed.
        private mutating func compress() throws -> Data? {
            let encoder = try encoder ?? GzipEncoder(level: level)
            self.encoder = encoder
            let isLast = hasAllInput
            let step = output.withUnsafeMutableBytes { room in
                input.withUnsafeBytes { encoder.encode($0, into: room, isLast: isLast) }
            }
            input = input.dropFirst(step.taken)
            isEnded = step.isEnded
            return step.put > 0 ? Data(output.prefix(step.put)) : nil
        }

        private static let pieceByteCount = 64 << 10
    }
}
