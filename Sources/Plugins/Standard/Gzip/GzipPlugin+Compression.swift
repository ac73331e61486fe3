import HTTPTypes
import PipelineCore

extension GzipPlugin {
    /// Compresses the body in memory if that makes it smaller, or while it is sent; returns whether it is compressed.
    func compress(_ request: inout PipelineRequest) async throws -> Bool {
        let body = request.body
        guard !body.isAbsent, body.byteCount.map({ $0 >= max(minimumByteCount, 1) }) ?? true,
            !Self.fieldsOfOneForm.contains(where: request.headers.contains),
            Self.isCompressible(request.headers[.contentType]) ?? (body.bytes != nil)
        else { return false }
        let chunks = CompressedChunks(body: body, level: level)
        if let bytes = body.bytes {
            guard let gzip = try await chunks.collect(below: bytes.count) else { return false }
            request.body = .bytes(gzip)
            if request.headers.contains(.contentLength) { request.headers[.contentLength] = String(gzip.count) }
        } else {
            request.body = body.isReplayable ? .stream(replaying: { chunks }) : .stream(chunks)
            request.headers[.contentLength] = nil
        }
        request.headers[.contentEncoding] = "gzip"
        return true
    }

    /// Fields that describe the exact bytes of the body, or show that it is already coded.
    private static let fieldsOfOneForm: [HTTPField.Name] =
        [.contentEncoding, .contentRange]
        + ["Content-Digest", "Repr-Digest", "Digest", "Content-MD5"].compactMap { HTTPField.Name($0) }

    /// Returns whether bytes of a Content-Type can become smaller; `nil` if the type does not determine that.
    private static func isCompressible(_ contentType: String?) -> Bool? {
        guard let contentType else { return nil }
        let essence = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        let parts = essence.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let subtype = String(parts[1])
        if ["+gzip", "+zip", "+zstd"].contains(where: subtype.hasSuffix) { return false }
        switch parts[0] {
        case "audio", "video": return false
        case "image": return plainImages.contains(subtype) || subtype.hasSuffix("+xml")
        case "font": return !subtype.hasPrefix("woff")
        case "multipart": return nil
        case "application" where subtype == "octet-stream": return nil
        case "application": return !archives.contains(subtype) && !packedDocuments.contains(where: subtype.hasPrefix)
        default: return true
        }
    }

    private static let plainImages: Set<String> = [
        "bmp", "x-ms-bmp", "x-icon", "vnd.microsoft.icon", "x-portable-pixmap",
    ]

    private static let archives: Set<String> = [
        "gzip", "x-gzip", "zip", "x-zip-compressed", "zstd", "x-brotli", "x-compress", "x-bzip", "x-bzip2", "x-xz",
        "x-lzip", "x-lzma", "x-7z-compressed", "vnd.rar", "x-rar-compressed", "java-archive",
        "vnd.android.package-archive", "pdf", "font-woff", "x-apple-diskimage",
    ]

    private static let packedDocuments = ["vnd.openxmlformats-officedocument.", "vnd.oasis.opendocument."]
}
