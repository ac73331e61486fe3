import Foundation

/// A parameter encoding that writes a JSON object into the body.
///
/// Keys are sorted at every level, so that equal parameters encode to equal bytes.
///
/// A key whose value is `nil` is omitted, and `NSNull` is written as `null`. A whole `Double` is written without a
/// fraction.
///
/// **Effects**: sets `Content-Type: application/json` unless the request has a Content-Type.
///
/// **Errors**: ``PipelineError/Code-swift.struct/encoding`` with the key of the value that JSON cannot represent.
///
/// Source: RFC 8259, https://www.rfc-editor.org/rfc/rfc8259.html
public struct JSONEncoding: ParameterEncoding {
    /// Whether the JSON is indented; defaults to `false`.
    public var isPrettyPrinted: Bool
    /// The encoding of dates; defaults to ISO 8601.
    public var dateEncoding: DateCodingStrategy.TextEncoding

    /// An encoding that writes a single line with sorted keys.
    public static let `default` = JSONEncoding()
    /// An encoding that writes indented lines with sorted keys.
    public static let prettyPrinted = JSONEncoding(isPrettyPrinted: true)

    /// Creates an encoding; by default it writes a single line, and dates in ISO 8601.
    public init(isPrettyPrinted: Bool = false, dateEncoding: DateCodingStrategy.TextEncoding = .iso8601) {
        self.isPrettyPrinted = isPrettyPrinted
        self.dateEncoding = dateEncoding
    }

    /// Writes the parameters as JSON into the request's body.
    public func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = isPrettyPrinted ? [.sortedKeys, .prettyPrinted] : .sortedKeys
        request.body = .bytes(try encoder.encode(ParameterTree(parameters, dates: dateEncoding)))
        request.setContentTypeIfAbsent("application/json")
    }
}
