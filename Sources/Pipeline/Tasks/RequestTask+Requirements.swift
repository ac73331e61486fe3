import Foundation

extension PipelineBody {
    /// Why a file cannot be sent, `nil` when it can.
    static func failure(ofFile url: URL) -> PipelineError? {
        do {
            try requireReadableFile(url)
            return nil
        } catch {
            return PipelineError(thrown: error, otherwise: .file, "the file cannot be read")
        }
    }

    /// The length of a file that is to be sent, or why it cannot be.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - part: how an error names the part of a form that the file is.
    /// - Returns: bytes, `nil` if the system gives a length of 0 though the file has content.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/file(_:)``.
    @discardableResult
    static func requireReadableFile(_ url: URL, part: String? = nil) throws -> Int? {
        let owner = part.map { " of \($0)" } ?? ""
        var isDirectory: ObjCBool = false
        guard url.isFileURL else {
            throw PipelineError.file(.unreadable, url, "is not a file URL, as URL(filePath:) makes one", of: owner)
        }
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw PipelineError.file(.unreadable, url, "cannot be read", of: owner)
        }
        if isDirectory.boolValue { throw PipelineError.file(.directory, url, "is a directory", of: owner) }
        guard FileManager.default.isReadableFile(atPath: url.path), PipelineBody.regularFileByteCount(of: url) != nil
        else { throw PipelineError.file(.unreadable, url, "cannot be read", of: owner) }
        return PipelineBody.file(url).byteCount
    }
}
