import Foundation

/// The date of an Expires attribute, which servers write in many forms.
///
/// Source: RFC 6265bis §5.1.1
enum CookieDate {
    /// Returns the date; `nil` if the text has no time, day, month or year, or one that does not exist.
    static func date(in text: some StringProtocol) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in Array(text.utf8).split(whereSeparator: isDelimiter) {
            if time == nil, let found = timeOfDay(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        switch year {
        case 70...99: year += 1900
        case 0...69: year += 2000
        default: break
        }
        let calendar = Calendar(identifier: .gregorian)
        let date = DateComponents(
            calendar: calendar,
            timeZone: .gmt,
            year: year,
            month: month,
            day: day,
            hour: time.hour,
            minute: time.minute,
            second: time.second
        )
        return year >= 1601 && date.isValidDate(in: calendar) ? date.date : nil
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Returns the number that a token begins with; `nil` if another digit follows, or fewer digits begin it.
    private static func number(_ token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let begin = token.prefix(while: isDigit)
        guard digits.contains(begin.count) else { return nil }
        return begin.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func timeOfDay(_ token: ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        // Only the last field may have something after its digits.
        guard parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit) else { return nil }
        let fields = parts.compactMap { number($0, digits: 1...2) }
        guard fields.count == 3 else { return nil }
        return (fields[0], fields[1], fields[2])
    }

    private static func monthNumber(_ token: ArraySlice<UInt8>) -> Int? {
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        let begin = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return names.firstIndex(of: begin).map { $0 + 1 }
    }
}
