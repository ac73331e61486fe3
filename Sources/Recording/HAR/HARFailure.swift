import Foundation
import Pipeline

extension PipelineError {
    /// A file or an entry that does not say what it has to.
    static func corrupt(_ reason: String, underlyingError: (any Error)? = nil) -> PipelineError {
        PipelineError(.recording(.corrupt), reason, underlyingError: underlyingError)
    }

    /// A file that does not take what is written to it, from the number that the system gave.
    static func notWritten(_ url: URL, errno number: Int32) -> PipelineError {
        PipelineError(
            .recording(.notWritten),
            "the file \(url.lastPathComponent.debugDescription) could not be written, errno \(number)",
            underlyingError: POSIXErrorCode(rawValue: number).map { POSIXError($0) }
        )
    }
}

/// Where in a HAR file something is wrong.
struct HARFailure: Error, Equatable {
    /// Of the first byte that cannot be read, from 0; of the entry's start when it is the entry's meaning that is wrong.
    let offset: Int
    /// Of the entry, from 0; `nil` outside of the entries.
    let index: Int?
    let reason: String

    func error(in url: URL?) -> PipelineError {
        let name = url.map { "the file \($0.lastPathComponent.debugDescription)" } ?? "the recording"
        let entry = index.map { " in entry \($0)" } ?? ""
        return .corrupt("\(name) is wrong at byte \(offset)\(entry): \(reason)", underlyingError: self)
    }
}
