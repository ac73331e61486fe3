import Foundation
import PipelineCore

/// A result that is read from the body directly, not from JSON.
protocol PlainResult {
    /// Returns `nil` if the body is not a valid value.
    static func make(from response: PipelineResponse) throws -> Self?
}

extension PlainResult where Self: LosslessStringConvertible {
    static func make(from response: PipelineResponse) throws -> Self? {
        Self(try response.mapString().trimmingCharacters(in: .whitespacesAndNewlines))
    }
}

extension Int: PlainResult {}
extension Int8: PlainResult {}
extension Int16: PlainResult {}
extension Int32: PlainResult {}
extension Int64: PlainResult {}
extension UInt: PlainResult {}
extension UInt8: PlainResult {}
extension UInt16: PlainResult {}
extension UInt32: PlainResult {}
extension UInt64: PlainResult {}

extension PlainResult where Self: LosslessStringConvertible & BinaryFloatingPoint {
    static func make(from response: PipelineResponse) throws -> Self? {
        let text = try response.mapString().trimmingCharacters(in: .whitespacesAndNewlines)
        // A finite Double may be infinite as a Float.
        return text.isDecimalNumber ? Self(text).flatMap { $0.isFinite ? $0 : nil } : nil
    }
}

extension Float: PlainResult {}
extension Double: PlainResult {}

extension Bool: PlainResult {
    /// Returns the value for `true`, `false` or an integer; only 0 is `false`.
    static func make(from response: PipelineResponse) throws -> Bool? {
        let text = try response.mapString().trimmingCharacters(in: .whitespacesAndNewlines)
        return Bool(text) ?? Int(text).map { $0 != 0 }
    }
}

extension Decimal: PlainResult {
    static func make(from response: PipelineResponse) throws -> Decimal? {
        let text = try response.mapString().trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.isDecimalNumber else { return nil }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }
}

extension String: PlainResult {
    static func make(from response: PipelineResponse) throws -> String? { try response.mapString() }
}

extension Data: PlainResult {
    static func make(from response: PipelineResponse) -> Data? { response.data }
}

extension IgnoredBody: PlainResult {
    static func make(from response: PipelineResponse) -> IgnoredBody? { IgnoredBody() }
}

extension Optional: PlainResult where Wrapped: PlainResult {
    /// Returns `nil` for the JSON value `null`, unless the result is the bytes themselves.
    static func make(from response: PipelineResponse) throws -> Wrapped?? {
        if Wrapped.self != Data.self, response.data.count < 64,
            String(decoding: response.data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) == "null"
        {
            return .some(nil)
        }
        return try Wrapped.make(from: response).map { $0 }
    }
}

extension String {
    /// Whether it is a finite number in decimal digits.
    ///
    /// Other texts would be parsed in part or as a value that JSON cannot hold.
    fileprivate var isDecimalNumber: Bool {
        utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) } && Double(self)?.isFinite ?? false
    }
}

/// The result of a request whose response body is not needed; any body, or none, decodes to it.
///
/// As with every type, a body that is larger than `ProviderConfiguration.Limits.bufferedBodyByteCount` fails with
/// `limit.bodyBytes`.
public struct IgnoredBody: Codable, Sendable, Hashable {
    /// Creates a value, which has no content.
    public init() {}

    /// Creates a value from any body, without reading it.
    public init(from decoder: any Decoder) throws {}
}
