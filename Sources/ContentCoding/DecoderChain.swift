package import Foundation
import PipelineCore

/// A chain that decodes the codings of a body one after another and enforces the limits on its output.
package struct DecoderChain: ~Copyable {
    private final class Stage {
        let decoder: any ContentDecoder
        /// The output of the previous stage that this one has not taken yet; unused in the first stage, which reads the
        /// input.
        let buffer: UnsafeMutableRawBufferPointer
        var rest = 0..<0
        var putCount = 0

        init(_ decoder: any ContentDecoder, bufferByteCount: Int) {
            self.decoder = decoder
            buffer = .allocate(byteCount: bufferByteCount, alignment: 16)
        }

        deinit { buffer.deallocate() }
    }

    private let stages: [Stage]
    private let plan: DecodingPlan
    private let byteLimit: Int
    private var input = Data()
    private var inputOffset = 0
    private var takenCount = 0
    private var hasAllInput = false

    /// - Parameters:
    ///   - plan: the codings, and the limits on their output.
    ///   - byteLimit: the maximum number of decoded bytes.
    package init(_ plan: DecodingPlan, byteLimit: Int) {
        self.plan = plan
        self.byteLimit = byteLimit
        stages = plan.codings.reversed().enumerated().map { index, coding in
            Stage(coding.makeDecoder(), bufferByteCount: index == 0 ? 0 : 64 << 10)
        }
    }

    /// Sets the next input; all output of the previous input must have been read.
    package mutating func feed(_ data: Data) {
        input = data
        inputOffset = 0
    }

    /// Marks the end of the input.
    package mutating func feedEnd() {
        hasAllInput = true
    }

    /// Decodes into a buffer of at least one byte.
    ///
    /// - Returns: the number of bytes decoded; 0 if more input is needed, or at the end.
    /// - Throws: `PipelineError` with code `contentCoding(_:)`, or `limit.decodedBytes`.
    package mutating func read(into output: UnsafeMutableRawBufferPointer) throws -> Int {
        try read(stages.count - 1, into: output)
    }

    private mutating func read(_ index: Int, into output: UnsafeMutableRawBufferPointer) throws -> Int {
        let stage = stages[index]
        while true {
            let step = index == 0 ? try decodeInput(stage, output) : try decodeBuffer(stage, output)
            if step.put > 0 {
                stage.putCount += step.put
                try requireWithinLimits(stage, isLast: index == stages.count - 1)
                return step.put
            }
            if index == 0 {
                guard inputOffset == input.count else { continue }
            } else {
                guard stage.rest.isEmpty else { continue }
                stage.rest = 0..<(try read(index - 1, into: stage.buffer))
                guard stage.rest.isEmpty else { continue }
            }
            if hasAllInput { try stage.decoder.finish() }
            return 0
        }
    }

    private mutating func decodeInput(
        _ stage: Stage,
        _ output: UnsafeMutableRawBufferPointer
    ) throws -> (taken: Int, put: Int) {
        let step = try input.withUnsafeBytes { bytes in
            try stage.decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[inputOffset...]), into: output)
        }
        try Self.requireProgress(step, of: input.count - inputOffset)
        inputOffset += step.taken
        takenCount += step.taken
        return step
    }

    private func decodeBuffer(
        _ stage: Stage,
        _ output: UnsafeMutableRawBufferPointer
    ) throws -> (taken: Int, put: Int) {
        let step = try stage.decoder.decode(UnsafeRawBufferPointer(rebasing: stage.buffer[stage.rest]), into: output)
        try Self.requireProgress(step, of: stage.rest.count)
        stage.rest.removeFirst(step.taken)
        return step
    }

    private static func requireProgress(_ step: (taken: Int, put: Int), of count: Int) throws {
        guard step == (0, 0), count > 0 else { return }
        throw PipelineError.corruptContent
    }

    private func requireWithinLimits(_ stage: Stage, isLast: Bool) throws {
        if isLast, stage.putCount > byteLimit {
            throw PipelineError(
                .limit(.decodedContentBytes),
                "the decoded body is larger than the \(byteLimit) bytes allowed"
            )
        }
        // Each stage is compared with the bytes that arrived, because nested codings multiply.
        guard stage.putCount > plan.allowedByteCount(from: takenCount) else { return }
        throw PipelineError(
            .limit(.decodedContentBytes),
            "\(takenCount) bytes decode to \(stage.putCount), more than \(plan.ratio) times as many"
        )
    }
}
