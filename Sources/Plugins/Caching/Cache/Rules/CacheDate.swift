import Foundation
import PipelineCore

/// Reads and writes dates as a cache does.
///
/// Letters match in any case (RFC 9111 §4.2); everything else is as in `HTTPDate`.
enum CacheDate {
    /// Returns the seconds since 1970; `nil` if the text is not a date.
    static func seconds(_ text: String, now: Date) -> Int? {
        if let seconds = FixedDate.seconds(text) { return seconds }
        // The letters in the case that the grammar requires.
        let text = text.trimmed.capitalized.replacingOccurrences(of: "Gmt", with: "GMT")
        return HTTPDate(text, now: now)?.secondsSince1970
    }

    static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns a date as `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` before year 1583 or after year 9999.
    static func text(_ date: Date) -> String? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard (-12_212_553_600..<253_402_300_800).contains(seconds) else { return nil }
        // The year, the month, the day and the time of `1994-11-06T08:49:37Z`.
        let parts = Date(timeIntervalSince1970: seconds).ISO8601Format().split { "-TZ".contains($0) }
        guard parts.count == 4, let month = Int(parts[1]) else { return nil }
        let weekday = (Int((seconds / 86_400).rounded(.down)) % 7 + 11) % 7
        return "\(days[weekday]), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) GMT"
    }
}
