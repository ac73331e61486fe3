import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension PipelineError {
    /// The failure of a file that was to be written, from the number that the system gave.
    static func notWritten(_ url: URL, errno number: Int32) -> PipelineError {
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

    /// `.file`, naming the last part of the path alone.
    static func file(
        _ detail: Code.FileFailure,
        _ url: URL,
        _ what: String,
        _ error: (any Error)? = nil,
        of owner: String = ""
    ) -> PipelineError {
        let name = url.lastPathComponent.quotedExcerpt
        return PipelineError(.file(detail), "the file \(name)\(owner) \(what)", underlyingError: error)
    }
}
