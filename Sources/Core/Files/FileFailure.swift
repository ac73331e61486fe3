import Foundation

extension PipelineError {
    /// Makes the error for a file that could not be written, from the system's `errno`.
    ///
    /// - Parameters:
    ///   - url: the file; `nil` for a temporary file, whose name means nothing to the caller.
    ///   - number: the number of the failure.
    /// - Returns: the error.
    static func notWritten(_ url: URL?, errno number: Int32) -> PipelineError {
        let (detail, what): (Code.FileFailure, String) =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: (.noSpace, "does not fit on its volume")
            case EEXIST: (.exists, "exists already")
            case EISDIR: (.directory, "is a directory")
            case EWOULDBLOCK: (.busy, "is being written by another download")
            default: (.notWritable, "cannot be written")
            }
        return file(detail, url, what, POSIXErrorCode(rawValue: number).map { POSIXError($0) })
    }

    /// Makes a `file` error that shows only the last path component.
    static func file(
        _ detail: Code.FileFailure,
        _ url: URL?,
        _ what: String,
        _ error: (any Error)? = nil,
        of owner: String = ""
    ) -> PipelineError {
        let file = url.map { "the file \($0.lastPathComponent.quotedExcerpt)" } ?? "a temporary file"
        return PipelineError(.file(detail), "\(file)\(owner) \(what)", underlyingError: error)
    }
}
