package import Foundation

/// Dates in HAR files: ISO 8601 with a zone and any number of decimals.
package enum HARDate {
    /// Parses a date, in UTC if it has no zone.
    ///
    /// Returns `nil` if the text is not a date.
    static func date(_ text: String) -> Date? {
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), (1...12).contains(month),
            reader.skip("-"), let day = reader.number(2), (1...31).contains(day), reader.skip("Tt "),
            let hour = reader.number(2), hour < 24, reader.skip(":"), let minute = reader.number(2), minute < 60,
            reader.skip(":"), let second = reader.number(2), second <= 60, let fraction = reader.fraction(),
            let zone = reader.zone(), reader.rest.isEmpty
        else { return nil }
        let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute - zone) * 60 + second
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
    }

    /// Formats a date in UTC, to the millisecond: `2026-11-21T02:12:26.119Z`.
    package static func text(_ date: Date) -> String {
        let limits = (-62_135_596_800_000.0, 253_402_300_799_999.0)
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        let shown = milliseconds.isNaN ? 0 : min(max(milliseconds, limits.0), limits.1)
        // The style cuts off fractions of a millisecond, and dates have no exact decimals.
        return Date(timeIntervalSince1970: (shown + 0.2) / 1000).formatted(style)
    }

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// Returns the days since 1970-01-01, counted in years that begin in March.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = year * 12 + month - 3
        let (years, months) = (shifted / 12, shifted % 12)
        return years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1 - 719_468
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skip(_ bytes: String) -> Bool {
            guard let first = rest.first, bytes.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(_ count: Int) -> Int? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(count)
            return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        mutating func fraction() -> Double? {
            guard skip(".,") else { return 0 }
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            return Double("0." + String(decoding: digits.prefix(9), as: UTF8.self))
        }

        /// Returns the offset of the zone, in minutes.
        mutating func zone() -> Int? {
            if rest.isEmpty || skip("Zz") { return 0 }
            let isNegative = rest.first == UInt8(ascii: "-")
            guard skip("+-"), let hours = number(2) else { return nil }
            _ = skip(":")
            guard let minutes = rest.isEmpty ? 0 : number(2) else { return nil }
            return (hours * 60 + minutes) * (isNegative ? -1 : 1)
        }
    }
}
