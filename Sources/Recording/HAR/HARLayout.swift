import Foundation

/// The layout around the entries of a HAR file, which new entries follow.
struct HARLayout: Sendable {
    /// The text before the first entry if all entries are new.
    var opening = ""
    var separator = ","
    /// The text after the last entry if all entries are new.
    var closing = ""
    /// The beginning of each line of an entry, and the indentation of each level in it; `nil` if an entry is one line.
    var lines: (base: String, unit: String)?

    /// Two blanks for each level; entries are on the third level.
    static let standard = HARLayout(unit: "  ")

    private init(unit: String?) {
        guard let unit else { return }
        let base = unit + unit + unit
        lines = (base, unit)
        opening = "\n" + base
        closing = "\n" + unit + unit
        separator = ",\n" + base
    }

    /// - Parameters:
    ///   - before: the end of the text before the first entry, or before its place if there is none.
    ///   - gap: the text between the first two entries, if there are two.
    ///   - isEmpty: whether the file has no entries.
    init(before: Data, gap: Data?, isEmpty: Bool) {
        let lineEnd = before.lastIndex(of: UInt8(ascii: "\n"))
        let line = before[(lineEnd.map { $0 + 1 } ?? before.startIndex)...]
        let indent = String(decoding: line.prefix { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
        // The first entry has its own line, on the third level; or `entries` has one, on the second; or neither does.
        let level = isEmpty ? 2 : 3
        guard lineEnd != nil, isEmpty || indent.utf8.count == line.count else {
            self.init(unit: nil)
            separator = gap.map { String(decoding: $0, as: UTF8.self) } ?? ","
            return
        }
        let isRegular = !indent.isEmpty && indent.utf8.count.isMultiple(of: level)
        self.init(unit: isRegular ? String(indent.prefix(indent.count / level)) : "  ")
        guard !isEmpty else { return }
        lines?.base = indent
        separator = gap.map { String(decoding: $0, as: UTF8.self) } ?? ",\n" + indent
    }
}
