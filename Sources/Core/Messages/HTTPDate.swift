public import Foundation

/// A date in a header field, accurate to the second.
///
/// ```swift
/// HTTPDate("Sun, 06 Nov 1994 08:49:37 GMT", now: clock.date)
/// HTTPDate("Sunday, 06-Nov-94 08:49:37 GMT", now: clock.date)
/// HTTPDate("Sun Nov  6 08:49:37 1994", now: clock.date)
/// ```
///
/// Parsing is case-sensitive. A leap second is read as the first second of the next minute. The day name must be valid,
/// but need not match the date.
///
/// Source: RFC 9110 §5.6.7, https://www.rfc-editor.org/rfc/rfc9110.html#section-5.6.7
public struct HTTPDate: Sendable, Hashable {
    /// The seconds since 1970-01-01 00:00:00 UTC, negative for earlier dates.
    public let secondsSince1970: Int

    /// Parses a date in any of the three forms; returns `nil` for anything else.
    ///
    /// - Parameters:
    ///   - text: the value of the field.
    ///   - now: the current date. A two-digit year is read as the latest year that puts the date at most 50 years after
    ///     it.
    public init?(_ text: String, now: Date) {
        guard let words = Self.words(of: text) else { return nil }
        let seconds =
            switch words.count {
            case 4: Self.rfc850(words, now.timeIntervalSince1970)
            case 6 where words[0].hasSuffix(","): Self.fixdate(words)
            default: Self.asctime(words)
            }
        guard let seconds else { return nil }
        secondsSince1970 = seconds
    }

    /// Parses a date in the form that senders must generate, `Sun, 06 Nov 1994 08:49:37 GMT`; returns `nil` for
    /// anything else.
    public init?(fixdate text: String) {
        guard let words = Self.words(of: text), let seconds = Self.fixdate(words) else { return nil }
        secondsSince1970 = seconds
    }

    /// The moment as a Foundation `Date`.
    public var date: Date { Date(timeIntervalSince1970: TimeInterval(secondsSince1970)) }

    private static func words(of text: String) -> [Substring]? {
        // The lengths of `Sun Nov  6 08:49:37 1994` and `Wednesday, 06-Nov-94 08:49:37 GMT`.
        guard (24...33).contains(text.utf8.count) else { return nil }
        return text.split(separator: " ", omittingEmptySubsequences: false)
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func fixdate(_ words: [Substring]) -> Int? {
        guard words.count == 6, words[5] == "GMT", days.contains(where: { $0.prefix(3) + "," == words[0] }),
            let day = number(words[1], 2), let year = number(words[3], 4)
        else { return nil }
        return seconds(year, words[2], day, words[4])
    }

    /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func rfc850(_ words: [Substring], _ now: TimeInterval) -> Int? {
        let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
        guard words[3] == "GMT", days.contains(where: { $0 + "," == words[0] }), parts.count == 3,
            let day = number(parts[0], 2), let yearOfCentury = number(parts[2], 2)
        else { return nil }
        let year = stride(from: 9900 + yearOfCentury, to: 100, by: -100).first { year in
            // The earlier year need not have the 29th of February.
            seconds(year - 50, parts[1], day, words[2], checksDay: false).map { TimeInterval($0) <= now } ?? false
        }
        return year.flatMap { seconds($0, parts[1], day, words[2]) }
    }

    /// Parses `Sun Nov  6 08:49:37 1994`.
    private static func asctime(_ words: [Substring]) -> Int? {
        guard words.count == 5 ? words[2].first != "0" : words.count == 6 && words[2].isEmpty,
            days.contains(where: { $0.prefix(3) == words[0] }),
            let day = number(words[words.count - 3], words.count == 5 ? 2 : 1),
            let year = number(words[words.count - 1], 4)
        else { return nil }
        return seconds(year, words[1], day, words[words.count - 2])
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    /// Returns the seconds since 1970; `nil` if the month or the time is not valid, or the month does not have the day.
    private static func seconds(
        _ year: Int,
        _ monthName: Substring,
        _ day: Int,
        _ time: Substring,
        checksDay: Bool = true
    ) -> Int? {
        guard year > 0, day > 0, let month = months.firstIndex(where: { $0 == monthName }).map({ $0 + 1 }),
            let second = secondOfDay(time)
        else { return nil }
        let first = days(year, month, 1)
        let length = days(month == 12 ? year + 1 : year, month % 12 + 1, 1) - first
        guard !checksDay || day <= length else { return nil }
        return (first + day - 1) * 86_400 + second
    }

    private static func secondOfDay(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], 2), let minute = number(parts[1], 2),
            let second = number(parts[2], 2), hour <= 23, minute <= 59, second <= 60
        else { return nil }
        return hour * 3_600 + minute * 60 + second
    }

    private static func number(_ text: Substring, _ digitCount: Int) -> Int? {
        text.utf8.count == digitCount && text.utf8.isDigits ? Int(text) : nil
    }

    /// Returns the days since 1970, counted in years that begin in March and so end with the leap day.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day - 719_469
    }
}
