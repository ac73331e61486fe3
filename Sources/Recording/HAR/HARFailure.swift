import Foundation
import PipelineCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

extension PipelineError {
    /// Returns the error for a file or an entry that lacks required content.
    static func corrupt(_ reason: String, underlyingError: (any Error)? = nil) -> PipelineError {
        PipelineError(.recording(.corrupt), reason, underlyingError: underlyingError)
    }

    /// Returns the error for a file that could not be written.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - number: the error number of the system.
    ///   - folder: the folder in which the file could not be created, if that is what failed.
    /// - Returns: an error with code `recording.notWritten`.
    static func notWritten(_ url: URL, errno number: Int32, in folder: URL? = nil) -> PipelineError {
        let place = folder.map { " in the folder \($0.path.debugDescription)" } ?? ""
        return notWritten(number, "the file \(url.lastPathComponent.debugDescription) could not be written\(place)")
    }

    /// Returns the error for a file whose folder could not be created.
    static func notCreated(_ folder: URL, of url: URL, errno number: Int32) -> PipelineError {
        let name = url.lastPathComponent.debugDescription
        return notWritten(
            number,
            "the file \(name) could not be written because its folder \(folder.path.debugDescription) could not be created"
        )
    }

    private static func notWritten(_ number: Int32, _ what: String) -> PipelineError {
        PipelineError(
            .recording(.notWritten),
            "\(what): \(String(cString: strerror(number)))",
            underlyingError: POSIXErrorCode(rawValue: number).map { POSIXError($0) }
        )
    }
}

/// An error in a HAR file and its position.
struct HARFailure: Error, Equatable {
    /// The position of the first byte that cannot be read, from 0; the start of the entry if its content is invalid.
    let offset: Int
    /// The index of the entry, from 0; `nil` outside of the entries.
    let index: Int?
    let reason: String

    func error(in url: URL?) -> PipelineError {
        let name = url.map { "the file \($0.lastPathComponent.debugDescription)" } ?? "the recording"
        let entry = index.map { " in entry \($0)" } ?? ""
        return .corrupt("\(name) is wrong at byte \(offset)\(entry): \(reason)", underlyingError: self)
    }
}
