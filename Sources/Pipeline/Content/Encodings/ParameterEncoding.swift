/// Parameters by name.
///
/// Values may be strings, numbers, booleans, dates, `Data` (base64), `URL`, `UUID`, raw-valued enums, optionals and `NSNull`,
/// and arrays and dictionaries of these down to 64 levels; ``PropertyListEncoding`` keeps dates and bytes as they are. A value
/// of another type, a number that is not finite and a deeper nesting are refused with
/// ``PipelineError/Code-swift.struct/encoding``.
///
/// The compiler takes a nested literal of mixed elements for `[Any]` and refuses it; write its type:
///
/// ```swift
/// ["tags": ["a", 1, true] as [any Sendable], "page": ["size": 20, "sort": "name"] as [String: any Sendable]]
/// ```
public typealias RequestParameters = [String: any Sendable]

/// A way to put parameters into a request.
///
/// An implementation writes into the URL, the body or header fields, and sets a Content-Type only if there is none.
public protocol ParameterEncoding: Sendable {
    /// Writes the parameters into the request.
    ///
    /// - Throws: any error; one that is not a ``PipelineError`` reaches the caller as
    ///   ``PipelineError/Code-swift.struct/encoding`` with the thrown error underneath.
    func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws
}
