import Pipeline

/// Undoes one content coding, piece by piece, in bounded memory.
protocol ContentDecoder: AnyObject {
    /// Decodes as far as input and output go.
    ///
    /// It is called without input too, for output that had no room before. With input and room it does at least something.
    ///
    /// - Parameters:
    ///   - input: the bytes after those that were taken before.
    ///   - output: where to, at least one byte.
    /// - Returns: how many bytes were taken and how many were put out.
    /// - Throws: `PipelineError` with code `contentCoding(_:)`: `corrupt` or `trailing`.
    func decode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws -> (taken: Int, put: Int)

    /// Takes the end of the input; input of no bytes at all is whole.
    ///
    /// - Throws: `PipelineError` with code `contentCoding(_:)`: `truncated` when more was to come.
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
