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
        let reading: Reading? =
            switch words.count {
            case 4: Reading(rfc850: words, now: now.timeIntervalSince1970)
            case 6 where words[0].hasSuffix(","): Reading(fixdate: words)
            default: Reading(asctime: words)
            }
        guard let seconds = reading?.seconds else { return nil }
        secondsSince1970 = seconds
    }

    /// Parses a date in the form that senders must generate, `Sun, 06 Nov 1994 08:49:37 GMT`; returns `nil` for
    /// anything else.
    public init?(fixdate text: String) {
        guard let words = Self.words(of: text), let seconds = Reading(fixdate: words)?.seconds else { return nil }
        secondsSince1970 = seconds
    }

    /// The moment as a Foundation `Date`.
    public var date: Date { Date(timeIntervalSince1970: TimeInterval(secondsSince1970)) }

    private static func words(of text: String) -> [Substring]? {
        // The lengths of `Sun Nov  6 08:49:37 1994` and `Wednesday, 06-Nov-94 08:49:37 GMT`.
        guard (24...33).contains(text.utf8.count) else { return nil }
        return text.split(separator: " ", omittingEmptySubsequences: false)
    }
}

/// The components of a date; the day may not exist in the month.
private struct Reading {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    private let year: Int
    private let month: Int
    private let day: Int
    private let secondOfDay: Int

    private init(year: Int, month: Int, day: Int, secondOfDay: Int) {
        self.year = year
        self.month = month
        self.day = day
        self.secondOfDay = secondOfDay
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
    init?(fixdate words: [Substring]) {
        guard words.count == 6, words[5] == "GMT", Self.days.contains(where: { $0.prefix(3) + "," == words[0] }),
            let day = Self.number(words[1], 2, 1...31), let month = Self.month(words[2]),
            let year = Self.number(words[3], 4, 1...9999), let second = Self.secondOfDay(words[4])
        else { return nil }
        self.init(year: year, month: month, day: day, secondOfDay: second)
    }

    /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`.
    init?(rfc850 words: [Substring], now: TimeInterval) {
        guard words.count == 4, words[3] == "GMT", Self.days.contains(where: { $0 + "," == words[0] }),
            let second = Self.secondOfDay(words[2])
        else { return nil }
        let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let day = Self.number(parts[0], 2, 1...31), let month = Self.month(parts[1]),
            let yearOfCentury = Self.number(parts[2], 2, 0...99)
        else { return nil }
        let year = stride(from: 9900 + yearOfCentury, to: 100, by: -100).first { year in
            let earlier = Reading(year: year - 50, month: month, day: day, secondOfDay: second)
            return TimeInterval(earlier.uncheckedSeconds) <= now
        }
        guard let year else { return nil }
        self.init(year: year, month: month, day: day, secondOfDay: second)
    }

    /// Parses `Sun Nov  6 08:49:37 1994`.
    init?(asctime words: [Substring]) {
        guard words.count == 5 || (words.count == 6 && words[2].isEmpty),
            Self.days.contains(where: { $0.prefix(3) == words[0] }), let month = Self.month(words[1]),
            let day = words.count == 5 ? Self.number(words[2], 2, 10...31) : Self.number(words[3], 1, 1...9),
            let second = Self.secondOfDay(words[words.count - 2]),
            let year = Self.number(words[words.count - 1], 4, 1...9999)
        else { return nil }
        self.init(year: year, month: month, day: day, secondOfDay: second)
    }

    /// The seconds since 1970; `nil` if the month does not have that day.
    var seconds: Int? {
        let length = Self.days(month == 12 ? year + 1 : year, month % 12 + 1, 1) - Self.days(year, month, 1)
        return day <= length ? uncheckedSeconds : nil
    }

    private var uncheckedSeconds: Int { Self.days(year, month, day) * 86_400 + secondOfDay }

    private static func month(_ text: Substring) -> Int? {
        months.firstIndex { $0 == text }.map { $0 + 1 }
    }

    private static func secondOfDay(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], 2, 0...23), let minute = number(parts[1], 2, 0...59),
            let second = number(parts[2], 2, 0...60)
        else { return nil }
        return hour * 3_600 + minute * 60 + second
    }

    private static func number(_ text: Substring, _ digits: Int, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let value = Int(text), range.contains(value)
        else { return nil }
        return value
    }

    /// Returns the days since 1970, counted in years that begin in March and so end with the leap day.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day - 719_469
    }
}
