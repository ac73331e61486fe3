public import HTTPTypes
import PipelineCore

/// A content coding that this package can decode.
///
/// Source: RFC 9110 §8.4, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.4
public enum ContentCoding: Sendable, Hashable {
    case gzip
    case deflate
    #if Compression
    case brotli
    case zstd
    #endif

    /// The value of the header field Accept-Encoding: all supported codings.
    public static let accepted: String = {
        var names = ["gzip", "deflate"]
        #if Compression
        names.append("br")
        names.append("zstd")
        #endif
        return names.joined(separator: ", ")
    }()

    /// Makes the coding with a name, ignoring case; returns `nil` if the name is unknown.
    public init?(_ name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        #if Compression
        case "br": self = .brotli
        case "zstd": self = .zstd
        #endif
        default: return nil
        }
    }

    func makeDecoder() -> any ContentDecoder {
        switch self {
        case .gzip: InflateDecoder(isGzip: true)
        case .deflate: InflateDecoder(isGzip: false)
        #if Compression
        case .brotli: BrotliDecoder()
        case .zstd: ZstdDecoder()
        #endif
        }
    }

    /// Returns the codings of a response in the order in which they were applied, without `identity`.
    ///
    /// - Parameters:
    ///   - fields: the header fields of the response.
    ///   - limit: the maximum number of codings.
    /// - Returns: the codings; `nil` if one of them is unknown.
    /// - Throws: `PipelineError` with code `limit.codings`.
    public static func all(in fields: HTTPFields, upTo limit: Int) throws -> [ContentCoding]? {
        var codings: [ContentCoding] = []
        var count = 0
        var areKnown = true
        for value in fields[values: .contentEncoding] {
            for item in value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = Substring(item).trimmingBlanks
                guard !name.isEmpty, name.lowercased() != "identity" else { continue }
                count += 1
                guard count <= limit else {
                    throw PipelineError(.limit(.contentCodings), "more than the \(limit) content codings allowed")
                }
                if let coding = ContentCoding(name) { codings.append(coding) } else { areKnown = false }
            }
        }
        return areKnown ? codings : nil
    }
}
