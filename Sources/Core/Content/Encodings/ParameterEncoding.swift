/// Request parameters, each a name with a value.
///
/// Values may be strings, numbers, booleans, dates, `Data` (base64), `URL`, `UUID`, raw-valued enums, optionals and
/// `NSNull`, and arrays and dictionaries of these, nested up to 64 levels. ``PropertyListEncoding`` writes dates and
/// bytes in their own types. Values of other types, numbers that are not finite, and deeper nesting fail with
/// ``PipelineError/Code-swift.struct/encoding``.
///
/// The compiler infers `[Any]` for a nested literal with mixed elements and rejects it, so write the type:
///
/// ```swift
/// ["tags": ["a", 1, true] as [any Sendable], "page": ["size": 20, "sort": "name"] as [String: any Sendable]]
/// ```
public typealias RequestParameters = [String: any Sendable]

/// A type that writes parameters into a request.
///
/// An implementation writes into the URL, the body or header fields, and sets a Content-Type only if the request has
/// none.
public protocol ParameterEncoding: Sendable {
    /// Writes the parameters into the request.
    ///
    /// - Throws: any error. An error other than ``PipelineError`` reaches the caller as
    ///   ``PipelineError/Code-swift.struct/encoding`` with the thrown error as its underlying error.
    func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws
}
