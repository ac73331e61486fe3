import Foundation

/// Recognizes values of cookies and credentials that are not secret: hosts, paths, URLs, dates, words, numbers.
///
/// Such a value also occurs in places unrelated to the secret. Replacing it there would change requests and responses.
package enum PlainValue {
    /// Returns whether a value is not secret by its form.
    ///
    /// In cookies, joined words such as `dark-mode` are plain; elsewhere they may be a passphrase.
    package static func isPlain(_ value: String, isCookie: Bool = false) -> Bool {
        let text = value.removingPercentEncoding ?? value
        return isWord(text) || isCookie && isJoinedWords(text) || isNumber(text) || isPlace(text) || isDate(text)
            || isDate(text.replacingOccurrences(of: "+", with: " "))
    }

    /// Returns whether a value is a host, a path or a URL.
    package static func isPlace(_ text: String) -> Bool { isHost(text) || isPath(text) || isURL(text) }

    /// Letters of one case, optionally with one capital at the beginning.
    private static func isWord(_ text: some StringProtocol) -> Bool {
        guard text.count <= longestWord, text.allSatisfy(\.isLetter) else { return false }
        return !text.dropFirst().contains(where: \.isUppercase) || !text.contains(where: \.isLowercase)
    }

    /// Up to three words joined by `-`, `/` or `.`, such as `dark-mode`; those of a path, such as the time zone
    /// `America/New_York`, may be several words.
    private static func isJoinedWords(_ text: String) -> Bool {
        let isZone = text.contains("/")
        let parts = text.split(omittingEmptySubsequences: false) { isZone ? $0 == "/" : $0 == "-" || $0 == "." }
        return parts.count <= longestPhrase
            && parts.allSatisfy { part in
                let words = isZone ? part.split(omittingEmptySubsequences: false) { "-_.".contains($0) } : [part]
                return words.count <= longestPhrase && words.allSatisfy { !$0.isEmpty && isWord($0) }
            }
    }

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.count < shortestLongNumber && text.utf8.allSatisfy { $0.isDigit || $0 == 0x2e }
    }

    /// Lower-case labels, the last one of letters only, or an IPv4 address; a port may follow.
    private static func isHost(_ text: String) -> Bool {
        let parts = text.lowercased().split(separator: ":", omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count <= 2, parts.dropFirst().allSatisfy({ Int($0) != nil }) else {
            return false
        }
        if host == "localhost" { return true }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last,
            labels.allSatisfy({ !$0.isEmpty && $0.utf8.count <= longestWord && $0.utf8.allSatisfy(isLabelByte) })
        else { return false }
        // A signed value may contain full stops too, but also capitals, which host names are written without.
        let isName =
            last.allSatisfy(\.isLetter) && (2...longestDomain).contains(last.count) && text == text.lowercased()
        return isName || labels.count == 4 && labels.allSatisfy { UInt8($0) != nil }
    }

    /// Segments of words and short numbers.
    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/")
            && text.split(whereSeparator: { "/-_.~".contains($0) }).allSatisfy {
                isWord($0) || $0.utf8.count <= 8 && $0.utf8.allSatisfy(\.isDigit)
            }
    }

    private static func isURL(_ text: String) -> Bool {
        guard let start = text.range(of: "://") else { return false }
        let scheme = text[..<start.lowerBound]
        return !scheme.isEmpty && scheme.utf8.allSatisfy { isLabelByte($0 | 0x20) || $0 == 0x2b || $0 == 0x2e }
    }

    package static func isDate(_ text: String) -> Bool {
        if isNamedDate(text) || isDayFirst(text) { return true }
        let digits = text.utf8.filter(\.isDigit).map { Int($0 - 0x30) }
        guard (8...20).contains(digits.count), digits.count < text.utf8.count,
            text.utf8.allSatisfy({ $0.isDigit || "-/:.,+ TZtz".utf8.contains($0) })
        else { return false }
        let (century, month, day) = (digits[0] * 10 + digits[1], digits[4] * 10 + digits[5], digits[6] * 10 + digits[7])
        return (19...20).contains(century) && (1...12).contains(month) && (1...31).contains(day)
    }

    /// A day, the name of a month, and a year, in any order, such as `20-Jun-2018`; a time may follow, and the name of
    /// a day may precede, as in the three forms of RFC 9110 §5.6.7.
    private static func isNamedDate(_ text: String) -> Bool {
        let words = text.split { " ,-/.:+()".contains($0) }
        let numbers = words.filter { $0.utf8.count <= 4 && $0.utf8.allSatisfy(\.isDigit) }
        let names = words.filter { !$0.utf8.contains(where: \.isDigit) && !zones.contains($0) }
        return (2...6).contains(numbers.count) && (1...2).contains(names.count)
            && numbers.count + names.count + words.count(where: zones.contains) == words.count
            && names.contains { months.contains($0.prefix(3)) }
            && names.allSatisfy { name in
                months.contains(name) || longMonths.contains(name)
                    || days.contains { name == $0 || name == $0.prefix(3) }
            }
    }

    /// A day, a month and a year with four digits, as in `20.06.2018`, `06/20/2018` or `20-06-2018 10:30`.
    private static func isDayFirst(_ text: String) -> Bool {
        let groups = text.split { "-/.:, T".contains($0) }
        guard (3...6).contains(groups.count), text.utf8.allSatisfy({ $0.isDigit || "-/.:, T".utf8.contains($0) })
        else { return false }
        let numbers = groups.compactMap { Int($0) }
        return numbers.count == groups.count && groups[2].utf8.count == 4 && (1900...2099).contains(numbers[2])
            && numbers[..<2].allSatisfy { (1...31).contains($0) } && numbers[..<2].contains { $0 <= 12 }
            && groups.enumerated().allSatisfy { $0.offset == 2 || $0.element.utf8.count <= 2 }
    }

    private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    private static let months: Set<Substring> = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static let longMonths: Set<Substring> = [
        "January", "February", "March", "April", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let zones: Set<Substring> = ["GMT", "UTC", "AM", "PM", "Z"]

    private static func isLabelByte(_ byte: UInt8) -> Bool {
        byte.isDigit || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "-")
    }

    private static let shortestLongNumber = 16
    private static let longestWord = 20
    private static let longestPhrase = 3
    private static let longestDomain = 12
}
