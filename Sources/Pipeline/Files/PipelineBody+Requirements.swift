import Foundation

extension PipelineBody {
    /// The length of a file that is to be sent, or why it cannot be.
    ///
    /// The calling thread waits for the file system.
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
        return byteCount(of: url)
    }

    /// Asked of the file each time, since a `URL` remembers its resource values.
    static func byteCount(of url: URL) -> Int? {
        guard let byteCount = regularFileByteCount(of: url) else { return nil }
        return byteCount == 0 && hasContent(url) ? nil : byteCount
    }

    /// What the system says of a file's length, `nil` unless it is a regular file.
    private static func regularFileByteCount(of url: URL) -> Int? {
        let path = url.resolvingSymlinksInPath().path
        guard url.isFileURL, let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular
        else { return nil }
        return (attributes[.size] as? NSNumber)?.intValue
    }

    private static func hasContent(_ url: URL) -> Bool {
        guard let handle = try? FileHandle(forReadingFrom: url) else { return false }
        return (try? handle.read(upToCount: 1))?.isEmpty == false
    }
}
