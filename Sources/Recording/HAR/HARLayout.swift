import Foundation

/// How a HAR file is written around its entries, so that new ones look like the others.
struct HARLayout: Sendable {
    /// Before the first of entries that are all new.
    var opening = ""
    var separator = ","
    /// After the last of entries that are all new.
    var closing = ""
    /// What each line of an entry begins with, and each level within it; `nil` for one line.
    var lines: (base: String, unit: String)?

    /// Lines with 2 blanks a level, an entry being the third.
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
    ///   - before: the end of what stands before the first entry; of what stands before its place when there is none.
    ///   - gap: what stands between the first two entries, if there are two.
    ///   - isEmpty: whether there is no entry.
    init(before: Data, gap: Data?, isEmpty: Bool) {
        let lineEnd = before.lastIndex(of: UInt8(ascii: "\n"))
        let line = before[(lineEnd.map { $0 + 1 } ?? before.startIndex)...]
        let indent = String(decoding: line.prefix { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
        // The first entry stands on a line of its own, as the third level; `entries` does, as the second; or nothing does.
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
