/// Parses the form of dates that senders must generate, `Sun, 06 Nov 1994 08:49:37 GMT`, without allocations.
///
/// A lookup reads up to three dates, and this takes a small part of the time that `HTTPDate` needs.
enum FixedDate {
    /// Returns the seconds since 1970; `nil` if the text has another form, or a day that does not exist.
    static func seconds(_ text: String) -> Int? {
        var text = text
        return text.withUTF8 { seconds($0) }
    }

    private static func seconds(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard text.count == 29, matches(text, "***, dd *** dddd dd:dd:dd GMT"), days.contains(word(text, 0)),
            let month = months.firstIndex(of: word(text, 8))
        else { return nil }
        let (year, day) = (number(text, 12) * 100 + number(text, 14), number(text, 5))
        let (hour, minute, second) = (number(text, 17), number(text, 20), number(text, 23))
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let length = month == 1 && isLeap ? 29 : lengths[month]
        guard year > 0, (1...length).contains(day), hour < 24, minute < 60, second <= 60 else { return nil }
        // Years begin in March here, so that the leap day is their last.
        let shifted = month > 1 ? year : year - 1
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400
        let dayOfYear = ((month + 10) % 12 * 153 + 2) / 5 + day
        return (days + dayOfYear - 719_469) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// Whether the text has digits for `d`, anything for `*`, and otherwise the characters of the pattern in any case.
    private static func matches(_ text: UnsafeBufferPointer<UInt8>, _ pattern: StaticString) -> Bool {
        let pattern = UnsafeBufferPointer(start: pattern.utf8Start, count: pattern.utf8CodeUnitCount)
        for (byte, expected) in zip(text, pattern) {
            switch expected {
            case UInt8(ascii: "*"): break
            case UInt8(ascii: "d"):
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return false }
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                guard byte & ~0x20 == expected else { return false }
            default:
                guard byte == expected else { return false }
            }
        }
        return true
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        Int(text[start] & 15) * 10 + Int(text[start + 1] & 15)
    }

    /// Returns three characters in lowercase as a number; a byte that is not a letter counts as zero.
    private static func word(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> UInt32 {
        var word: UInt32 = 0
        for index in start..<start + 3 {
            let byte = text[index]
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            word = word << 8 | UInt32(isLetter ? byte | 0x20 : 0)
        }
        return word
    }

    private static func words(_ names: [String]) -> [UInt32] {
        names.map { $0.lowercased().utf8.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    private static let days = words(CacheDate.days)
    private static let months = words(CacheDate.months)
    private static let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}
