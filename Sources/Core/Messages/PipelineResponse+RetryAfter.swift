public import Foundation
import HTTPTypes

extension PipelineResponse {
    /// Returns how long the response asks the client to wait before the next request, by its header field Retry-After.
    ///
    /// ```swift
    /// if let wait = response.retryAfter(now: clock.date) { show("Try again in \(wait)") }
    /// ```
    ///
    /// The field contains a number of seconds, or a date in any of the three HTTP formats. A date is relative to the
    /// response's own Date field, so a wrong local clock does no harm, less the Age that it reached in a cache; without
    /// a Date field, it is relative to `now`. A date in the past means no wait. If there are several values, the
    /// longest wait applies. Any other value, such as `-1` or `1.5`, is ignored. The field Retry-After-Ms, which some
    /// services add, takes precedence: a number of milliseconds.
    ///
    /// Source: RFC 9110 §10.2.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3
    ///
    /// - Parameter now: the current date.
    /// - Returns: the wait, zero and up; `Int64.max` seconds for a larger number; `nil` without a valid value.
    public func retryAfter(now: Date) -> Duration? {
        if let name = HTTPField.Name("Retry-After-Ms"), let text = headers[name], text.utf8.isDigits,
            let number = Int64(text)
        {
            return .milliseconds(number)
        }
        let values = headers[values: .retryAfter]
        guard !values.isEmpty else { return nil }
        // A response that a cache stored was sent its Age ago (RFC 9111 §5.1).
        let age = headers[.age].flatMap { Self.seconds($0) }.map { $0 / .seconds(1) } ?? 0
        let sent = headers[.date].flatMap { HTTPDate($0, now: now)?.date.addingTimeInterval(age) } ?? now
        return values.compactMap { Self.seconds($0) ?? Self.delay(until: $0, from: sent, now: now) }.max()
    }

    /// Several fields may have been joined by commas in transit.
    private static func seconds(_ value: String) -> Duration? {
        var longest: Int64?
        for element in value.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = element.utf8.drop { $0 == UInt8(ascii: " ") }
            guard digits.isDigits else { return nil }
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
