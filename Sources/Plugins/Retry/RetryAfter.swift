public import Foundation
public import HTTPTypes
import Pipeline

/// How long a response asks to wait before the next request.
///
/// ```swift
/// if let wait = RetryAfter(in: response.headers, now: clock.date)?.delay { show("Try again in \(wait)") }
/// ```
///
/// A number of seconds, or a date in any of the three forms of HTTP. A date counts from the response's own Date field, so that a
/// clock that is wrong here does no harm, else from `now`; one that is past asks for no wait. Of several values the longest counts.
/// Anything else, such as `-1` or `1.5`, is as if it were not there.
///
/// Source: RFC 9110 §10.2.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3
public struct RetryAfter: Sendable, Hashable {
    /// The wait, zero and up; `Int64.max` seconds for a number that is larger.
    public let delay: Duration

    /// Reads Retry-After; `nil` when there is none that can be understood.
    ///
    /// - Parameters:
    ///   - fields: the header fields of a response.
    ///   - now: the present date.
    public init?(in fields: HTTPFields, now: Date) {
        let values = fields[values: .retryAfter]
        guard !values.isEmpty else { return nil }
        let sent = fields[.date].flatMap { HTTPDate($0, now: now)?.date } ?? now
        let delays = values.compactMap { Self.seconds($0) ?? Self.delay(until: $0, from: sent, now: now) }
        guard let longest = delays.max() else { return nil }
        delay = longest
    }

    /// Several fields may have been joined by commas on their way.
    private static func seconds(_ value: String) -> Duration? {
        var longest: Int64?
        for element in value.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = element.utf8.drop { $0 == UInt8(ascii: " ") }
            guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                return nil
            }
            longest = max(longest ?? 0, Int64(Substring(digits)) ?? .max)
        }
        return longest.map { .seconds($0) }
    }

    private static func delay(until value: String, from sent: Date, now: Date) -> Duration? {
        guard let date = HTTPDate(value, now: now)?.date else { return nil }
        let seconds = date.timeIntervalSince(sent)
        guard seconds.isFinite else { return nil }
        return .seconds(min(max(0, seconds), 1e15))
    }
}
