import HTTPTypes
import PipelineCore

/// Decides which bodies of requests are compressed.
struct CompressionPolicy: Sendable {
    enum Decision: Sendable, Hashable {
        case leave
        /// Compress in memory, if that makes the body smaller.
        case whole
        /// Compress while the body is sent.
        case streamed
    }

    let minimumByteCount: Int

    func decision(for request: PipelineRequest) -> Decision {
        let body = request.body
        guard !body.isAbsent, body.byteCount.map({ $0 >= max(minimumByteCount, 1) }) ?? true,
            !Self.fieldsOfOneForm.contains(where: request.headers.contains)
        else { return .leave }
        switch Self.content(of: request.headers[.contentType]) {
        case .compressed: return .leave
        case .anything where body.bytes == nil: return .leave
        case .anything, .compressible: break
        }
        return body.bytes == nil ? .streamed : .whole
    }

    /// Fields that describe the exact bytes of the body, or show that it is already coded.
    private static let fieldsOfOneForm: [HTTPField.Name] =
        [.contentEncoding, .contentRange]
        + ["Content-Digest", "Repr-Digest", "Digest", "Content-MD5"].compactMap { HTTPField.Name($0) }

    enum Content: Sendable, Hashable {
        case compressible
        case compressed
        /// The type does not determine the content.
        case anything
    }

    /// Returns what a Content-Type says about the bytes.
    static func content(of contentType: String?) -> Content {
        guard let contentType else { return .anything }
        let essence = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        let parts = essence.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return .anything }
        let subtype = String(parts[1])
        if ["+gzip", "+zip", "+zstd"].contains(where: subtype.hasSuffix) { return .compressed }
        switch parts[0] {
        case "audio", "video": return .compressed
        case "image": return plainImages.contains(subtype) || subtype.hasSuffix("+xml") ? .compressible : .compressed
        case "font": return subtype.hasPrefix("woff") ? .compressed : .compressible
        case "multipart": return .anything
        case "application" where subtype == "octet-stream": return .anything
        case "application" where archives.contains(subtype): return .compressed
        case "application" where packedDocuments.contains(where: subtype.hasPrefix): return .compressed
        default: return .compressible
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
