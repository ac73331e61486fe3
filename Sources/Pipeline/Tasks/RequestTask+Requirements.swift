import Foundation
import HTTPTypes

extension PipelineRequest {
    /// Refuses a body where the method has no use for one.
    ///
    /// Source: RFC 9110 §9.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-9.3
    func requireBodyCarryingMethod() throws {
        guard method == .get || method == .head || method == .trace else { return }
        throw PipelineError(.invalidRequest(.body), "a \(method) carries no body")
    }
}

extension PipelineBody {
    /// Refuses a file that cannot be sent before anything is.
    static func requireReadableFile(_ url: URL) throws {
        var isDirectory: ObjCBool = false
        guard url.isFileURL, FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw PipelineError.file(.unreadable, url, "cannot be read")
        }
        if isDirectory.boolValue { throw PipelineError.file(.directory, url, "is a directory") }
        guard FileManager.default.isReadableFile(atPath: url.path), PipelineBody.file(url).byteCount != nil else {
            throw PipelineError.file(.unreadable, url, "cannot be read")
        }
    }
}
