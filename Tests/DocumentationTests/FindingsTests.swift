import Foundation
import TestSupport
import Testing

@Suite("The guide Findings", .watched)
struct FindingsTests {
    /// The severities that rules of the sources have, by identifier.
    private let declared: [String: Set<String>]
    /// The severities in the rows of the guide, by identifier, with repeats.
    private let listed: [(id: String, severities: Set<String>)]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        func lines(of page: String) throws -> [String] {
            Markdown(try String(contentsOf: root.appending(path: "Documentation/\(page).md"), encoding: .utf8)).lines
        }
        let sources = root.appending(path: "Sources")
        var declared: [String: Set<String>] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where path.hasSuffix(".swift") {
            let source = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
            for (id, severity) in Self.rules(in: source) { declared[id, default: []].insert(severity) }
        }
        // The settings that a transport does not support have the codes of their errors.
        for code in try lines(of: "ErrorCodes").compactMap({ $0.firstMatch(of: #/^\| `(unsupported\.\w+)` /#)?.1 }) {
            declared[String(code), default: []].insert("fault")
        }
        self.declared = declared
        listed = try lines(of: "Findings").compactMap { line in
            guard let match = line.firstMatch(of: /^\| `([\w.-]+)` \| ([^|]+) \|/) else { return nil }
            let isSetting = match.1.hasPrefix("unsupported.")
            let severities = isSetting ? ["fault"] : match.2.components(separatedBy: " or ")
            return (String(match.1), Set(severities))
        }
    }

    @Test("The guide Findings lists exactly the identifiers of the rules and conflicts in the sources")
    func list() {
        let ids = listed.map(\.id)
        #expect(declared.count > 50)
        let missing = Set(declared.keys).subtracting(ids).sorted()
        let unknown = Set(ids).subtracting(declared.keys).sorted()
        let repeated = Dictionary(grouping: ids) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        #expect(missing.isEmpty, "findings without a row: \(missing.joined(separator: ", "))")
        #expect(unknown.isEmpty, "rows of findings that no source has: \(unknown.joined(separator: ", "))")
        #expect(repeated.isEmpty, "findings with more than one row: \(repeated.joined(separator: ", "))")
    }

    @Test("The guide Findings gives each finding the severity that it has in the sources")
    func severities() {
        for (id, severities) in listed { #expect(declared[id] == severities, "\(id)") }
    }

    /// Returns the identifiers and severities of the rules, conflicts and findings that a source file makes.
    private static func rules(in source: String) -> [(id: String, severity: String)] {
        let code = source.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            .joined(separator: "\n")
        let opening = #/(?:\bOrderRule\(|\bSettingConflict\(|\bFinding\(\n +id:)\s*"((?:[^"\\]|\\\(\w+\))+)"/#
        return code.matches(of: opening).flatMap { match -> [(id: String, severity: String)] in
            let rest = code[match.range.upperBound...]
            let arguments = rest.prefix(upTo: rest.firstRange(of: #/\n *\)/#)?.lowerBound ?? rest.endIndex)
            let severities = arguments.matches(of: /severity: (.+)/).flatMap { severity in
                severity.1.matches(of: /\.(leak|fault|hint)\b/).map { String($0.1) }
            }
            let all = severities.isEmpty ? ["fault"] : severities
            return names(match.1, in: code[..<match.range.lowerBound]).flatMap { id in all.map { (id, $0) } }
        }
    }

    /// Returns an identifier, or one for each element of the list before it that `map` turns into rules.
    private static func names(_ id: Substring, in code: Substring) -> [String] {
        guard let place = id.firstRange(of: #/\\\(name\)/#) else { return [String(id)] }
        let list = code.matches(of: #/\[(\(.+\))\]\.map \{ name, /#).last?.1 ?? ""
        return list.matches(of: #/\("(\w+)"/#).map { id.replacingCharacters(in: place, with: $0.1) }
    }
}

extension Substring {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: Substring) -> String {
        String(self[..<range.lowerBound] + text + self[range.upperBound...])
    }
}
