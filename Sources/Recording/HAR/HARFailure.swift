import Foundation
import Pipeline

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension PipelineError {
    /// A file or an entry that does not say what it has to.
    static func corrupt(_ reason: String, underlyingError: (any Error)? = nil) -> PipelineError {
        PipelineError(.recording(.corrupt), reason, underlyingError: underlyingError)
    }

    /// A file that does not take what is written to it, from the number that the system gave.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - number: the number.
    ///   - folder: the folder that does not take the file, if that is what failed.
    /// - Returns: an error with code `recording.notWritten`.
    static func notWritten(_ url: URL, errno number: Int32, in folder: URL? = nil) -> PipelineError {
        let place = folder.map { " in the folder \($0.path.debugDescription)" } ?? ""
        return notWritten(number, "the file \(url.lastPathComponent.debugDescription) could not be written\(place)")
    }

    /// The folder of a file that could not be created.
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
