import Foundation
import PipelineCore

/// Reads and writes dates as a cache does.
///
/// Letters match in any case (RFC 9111 §4.2); everything else is as in `HTTPDate`.
enum CacheDate {
    /// Returns the seconds since 1970; `nil` if the text is not a date.
    static func seconds(_ text: String, now: Date) -> Int? {
        if let seconds = FixedDate.seconds(text) { return seconds }
        let text = text.trimmed
        if let date = HTTPDate(text, now: now) { return date.secondsSince1970 }
        return HTTPDate(recased(text), now: now)?.secondsSince1970
    }

    /// Returns the text with the letters in the case that the grammar requires.
    private static func recased(_ text: String) -> String {
        var isInWord = false
        var bytes = text.utf8.map { byte in
            let isLetter = (97...122).contains(byte | 0x20)
            defer { isInWord = isLetter }
            guard isLetter else { return byte }
            return isInWord ? byte | 0x20 : byte & ~0x20
        }
        if bytes.suffix(3).elementsEqual("Gmt".utf8) { bytes.replaceSubrange((bytes.count - 3)..., with: "GMT".utf8) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns a date as `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` before year 1 or after year 9999.
    static func text(_ date: Date) -> String? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard (-62_135_596_800..<253_402_300_800).contains(seconds) else { return nil }
        let total = Int(seconds)
        let second = ((total % 86_400) + 86_400) % 86_400
        let days = (total - second) / 86_400
        // Days since 0000-03-01, in years that begin in March and so end with the leap day.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = (monthFromMarch + 2) % 12
        let year = era * 400 + yearOfEra + (month < 2 ? 1 : 0)
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let weekday = ((days % 7) + 11) % 7
        let date = "\(Self.days[weekday]), \(padded(day)) \(months[month]) \(padded(year, 4))"
        return date + " \(padded(second / 3_600)):\(padded(second / 60 % 60)):\(padded(second % 60)) GMT"
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
