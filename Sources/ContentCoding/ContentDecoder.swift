import PipelineCore

/// A decoder of one content coding that works piece by piece, in bounded memory.
protocol ContentDecoder: AnyObject {
    /// Decodes as much as the input and the room in the output allow.
    ///
    /// Also called without input, for output that had no room before. With input and room, it always makes progress.
    ///
    /// - Parameters:
    ///   - input: the bytes after those already taken.
    ///   - output: the destination, at least one byte.
    /// - Returns: the number of bytes taken and the number of bytes written.
    /// - Throws: `PipelineError` with code `contentCoding(_:)`: `corrupt` or `trailing`.
    func decode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> (taken: Int, put: Int)

    /// Ends the input; an empty input is complete.
    ///
    /// - Throws: `PipelineError` with code `contentCoding(_:)`: `truncated` if the input is incomplete.
    func finish() throws
}

extension PipelineError {
    static var truncatedContent: PipelineError {
        PipelineError(.contentCoding(.truncated), "the compressed body ends too early")
    }

    static var corruptContent: PipelineError {
        PipelineError(.contentCoding(.corrupt), "the compressed body is damaged, or is not in the coding it names")
    }

    static var trailingContent: PipelineError {
        PipelineError(.contentCoding(.trailing), "something follows the end of the compressed body")
    }
}

// The public names are in PipelinePlugins, which defines these limits.
extension PipelineError.Code.Limit {
    static let decodedContentBytes = Self(rawValue: "decodedBytes")
    static let contentCodings = Self(rawValue: "codings")
}
