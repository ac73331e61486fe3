#if Crypto || canImport(CryptoKit)
import Foundation
import HTTPTypes
import PipelineCore

/// A request in the form that AWS Signature Version 4 signs.
///
/// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
struct AWSCanonicalRequest {
    /// How the path is signed.
    enum PathForm: Sendable {
        /// Percent-encoded once, however it is sent, which S3 requires.
        case encodedOnce
        /// Percent-encoded a second time.
        case encoded
        /// Without `.`, `..` and empty segments, and percent-encoded a second time.
        case normalized
    }

    /// The text, which ends with the hash of the payload.
    let text: String
    /// The names of the signed fields, in lower case, sorted, and separated by semicolons.
    let signedNames: String

    /// - Parameters:
    ///   - request: the request.
    ///   - query: additional items of the query, not encoded.
    ///   - form: the form of the path.
    ///   - payloadHash: the hash of the payload in hexadecimal digits, or a word in its place.
    init(_ request: PipelineRequest, query: [(String, String)], path form: PathForm, payloadHash: String) {
        let target = request.head.path ?? ""
        let path = target.prefix { $0 != "?" }
        var items = Self.items(of: target.dropFirst(path.count + 1))
        items += query.map { (Self.encoded($0.0), Self.encoded($0.1)) }
        items.sort { $0 < $1 }
        let fields = Self.fields(of: request)
        signedNames = fields.map(\.name).joined(separator: ";")
        let lines: [String] = [
            request.method.rawValue,
            Self.path(path, form),
            items.map { "\($0.0)=\($0.1)" }.joined(separator: "&"),
            fields.map { "\($0.name):\($0.value)\n" }.joined(),
            signedNames,
            payloadHash,
        ]
        text = lines.joined(separator: "\n")
    }

    /// Fields that transports and proxies set or change, and those of traces.
    private static let unsignedNames: Set<String> = [
        "accept-encoding", "authorization", "baggage", "connection", "expect", "keep-alive", "proxy-authorization",
        "te", "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade", "user-agent", "via",
        "x-amzn-trace-id",
    ]

    private static func fields(of request: PipelineRequest) -> [(name: String, value: String)] {
        var values: [String: [String]] = ["host": [request.origin.authority]]
        for field in request.headers {
            let name = field.name.canonicalName
            guard name != "host", !unsignedNames.contains(name) else { continue }
            values[name, default: []].append(collapsed(field.value))
        }
        return values.map { ($0.key, $0.value.joined(separator: ",")) }.sorted { $0.name < $1.name }
    }

    /// Returns a value without blanks at its ends, and with one space for several.
    private static func collapsed(_ value: String) -> String {
        value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }

    private static func items(of query: Substring) -> [(String, String)] {
        query.split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            return (reencoded(name), reencoded(item.dropFirst(name.count + 1)))
        }
    }

    /// Returns a path with query without the items of a signature in the query.
    static func withoutSignature(_ target: String) -> String {
        guard let mark = target.firstIndex(of: "?") else { return target }
        let items = target[mark...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
        let kept = items.filter { item in !signatureItems.contains(String(item.prefix { $0 != "=" })) }
        guard kept.count < items.count else { return target }
        return target[..<mark] + (kept.isEmpty ? "" : "?") + kept.joined(separator: "&")
    }

    private static let signatureItems: Set<String> = [
        "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token",
        "X-Amz-Signature", "X-Amz-SignedHeaders",
    ]

    /// Percent-encodes a text that may already be encoded in part; its bytes need not be UTF-8.
    private static func reencoded(_ text: Substring) -> String {
        PercentCoding.encoded(PercentCoding.decoded(text.utf8), keeping: unreserved)
    }

    private static func path(_ path: Substring, _ form: PathForm) -> String {
        guard !path.isEmpty else { return "/" }
        switch form {
        case .encodedOnce: return segments(of: path).map(reencoded).joined(separator: "/")
        case .encoded: return segments(of: path).map { encoded(String($0)) }.joined(separator: "/")
        case .normalized: return normalized(path)
        }
    }

    private static func segments(of path: Substring) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func normalized(_ path: Substring) -> String {
        var segments: [Substring] = []
        for segment in path.split(separator: "/") {
            switch segment {
            case ".": break
            case "..": _ = segments.popLast()
            default: segments.append(segment)
            }
        }
        guard !segments.isEmpty else { return "/" }
        let isFolder = path.hasSuffix("/") || path.hasSuffix("/.") || path.hasSuffix("/..")
        return segments.map { "/" + encoded(String($0)) }.joined() + (isFolder ? "/" : "")
    }

    /// Percent-encodes all bytes but letters, digits, and `-._~`.
    static func encoded(_ text: String) -> String { PercentCoding.encoded(text.utf8, keeping: unreserved) }

    private static let unreserved = Array("-._~".utf8)
}
#endif
