import Foundation

extension PipelineBody {
    /// Returns the length of a file that is to be sent, or throws if it cannot be sent.
    ///
    /// Blocks the calling thread during file system calls.
    ///
    /// - Parameters:
    ///   - url: the URL of the file.
    ///   - part: the name, for errors, of the form part that holds the file.
    /// - Returns: the length in bytes; `nil` if the system reports a length of 0 but the file has content.
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
        guard let byteCount = regularFileByteCount(of: url) else {
            throw PipelineError.file(.unreadable, url, "cannot be read", of: owner)
        }
        do {
            // Reads a byte also if the length is known: a request that fails at its first byte need not begin.
            return try hasContent(url) && byteCount == 0 ? nil : byteCount
        } catch {
            throw PipelineError.file(.unreadable, url, "cannot be read", error, of: owner)
        }
    }

    /// Read from the file each time, because a `URL` caches its resource values.
    static func byteCount(of url: URL) -> Int? {
        guard let byteCount = regularFileByteCount(of: url) else { return nil }
        return byteCount == 0 && (try? hasContent(url)) != false ? nil : byteCount
    }

    /// Returns the length that the system reports; `nil` unless it is a regular file.
    private static func regularFileByteCount(of url: URL) -> Int? {
        let path = url.resolvingSymlinksInPath().path
        guard url.isFileURL, let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular
        else { return nil }
        return (attributes[.size] as? NSNumber)?.intValue
    }

    private static func hasContent(_ url: URL) throws -> Bool {
        let byte = try FileHandle(forReadingFrom: url).read(upToCount: 1)
        return byte?.isEmpty == false
    }
}
