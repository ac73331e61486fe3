import Foundation
import TestSupport
import Testing

@Suite("The guide ErrorCodes", .watched)
struct ErrorCodesTests {
    private let rows: [String]
    private let declarations: CodeDeclarations

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let page = root.appending(path: "Documentation/ErrorCodes.md")
        rows = Markdown(try String(contentsOf: page, encoding: .utf8)).lines.filter { line in
            line.hasPrefix("|") && line != "| code | when | what to do |" && line != "|---|---|---|"
        }
        let sources = root.appending(path: "Sources")
        var declarations = CodeDeclarations()
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted()
        where path.hasSuffix(".swift") {
            declarations.read(try String(contentsOf: sources.appending(path: path), encoding: .utf8), of: path)
        }
        self.declarations = declarations
    }

    @Test("The guide ErrorCodes lists exactly the codes that the sources declare")
    func list() throws {
        let unread = declarations.unread + declarations.unpaired
        #expect(unread.isEmpty, "declarations that this test cannot read:\n\(unread.joined(separator: "\n"))")
        let listed = try rows.map { row in
            let code = row.firstMatch(of: /^\| `([^`|]+)` \| [^|]+ \| [^|]+ \|$/)?.1
            return String(try #require(code, "not a row of a code: \(row)"))
        }
        let declared = declarations.codes
        #expect(declared.count > 50)
        let missing = declared.subtracting(listed).sorted()
        let unknown = Set(listed).subtracting(declared).sorted()
        let repeated = Dictionary(grouping: listed) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        #expect(missing.isEmpty, "codes without a row: \(missing.joined(separator: ", "))")
        #expect(unknown.isEmpty, "rows of codes that are not declared: \(unknown.joined(separator: ", "))")
        #expect(repeated.isEmpty, "codes with more than one row: \(repeated.joined(separator: ", "))")
    }
}

/// The codes of `PipelineError` that sources declare.
///
/// A code is a constant of `PipelineError.Code`, or a function of it that joins a kind to a detail. A detail is a
/// constant or a case of a type within `PipelineError.Code`. Any other declaration there must be added here.
private struct CodeDeclarations {
    /// An extension or a type that contains the current line.
    private struct Scope {
        let indentation: Int
        let keyword: Substring
        let name: Substring
    }

    /// The declarations in an unknown form, each with its file and line.
    private(set) var unread: [String] = []
    private var words: Set<String> = []
    /// The text of each kind by its name in the code.
    private var kinds: [String: String] = [:]
    /// The details by the name of their type.
    private var details: [String: Set<String>] = [:]
    /// The type of the details by the name of the kind.
    private var pairs: [String: String] = [:]

    /// The codes with their details.
    var codes: Set<String> {
        pairs.reduce(into: words) { codes, pair in
            guard let kind = kinds[pair.key] else { return }
            codes.formUnion(details[pair.value, default: []].map { kind + "." + $0 })
        }
    }

    /// The kinds without details, and the details without a kind.
    var unpaired: [String] {
        let lonelyKinds = Set(kinds.keys).symmetricDifference(pairs.keys)
        let lonelyTypes = Set(details.keys).symmetricDifference(pairs.values)
        return lonelyKinds.sorted().map { "the kind \($0)" } + lonelyTypes.sorted().map { "the details \($0)" }
    }

    /// Adds the declarations of a file that is formatted by swift-format.
    mutating func read(_ source: String, of file: String) {
        guard source.contains("PipelineError.Code") || source.contains("extension PipelineError") else { return }
        var scopes: [Scope] = []
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let text = line.drop { $0 == " " }
            guard let first = text.first, first != "#", first != "{", !text.hasPrefix("//") else { continue }
            let indentation = line.count - text.count
            scopes.removeAll { $0.indentation >= indentation }
            let isMember = scopes.last.map { $0.indentation + 4 == indentation } ?? false
            let isRead = isMember ? note(text, in: scopes) : true
            if let scope = Self.scope(text, indentation) {
                scopes.append(scope)
            } else if text.contains("extension PipelineError") {
                unread.append("\(file):\(index + 1): \(text)")
            }
            // A code created inline has no declaration.
            if !isRead || text.contains("PipelineError.Code(.") || text.contains("Code(rawValue: \"") {
                unread.append("\(file):\(index + 1): \(text)")
            }
        }
    }

    private static func scope(_ text: Substring, _ indentation: Int) -> Scope? {
        let opening = /^(?:[a-z@]+ )*(extension|struct|enum|class|actor) (?:Pipeline\.)?([A-Z][\w.]*)[^{}]*\{?$/
        guard let match = text.firstMatch(of: opening) else { return nil }
        return Scope(indentation: indentation, keyword: match.1, name: match.2)
    }

    /// Adds the declaration on a line if it declares a code.
    ///
    /// - Returns: `false` if the line declares a code in an unknown form.
    private mutating func note(_ line: Substring, in scopes: [Scope]) -> Bool {
        let path = scopes.map(\.name).joined(separator: ".")
        guard path == "PipelineError.Code" || path.hasPrefix("PipelineError.Code.") else { return true }
        let type = String(path.dropFirst("PipelineError.Code.".count))
        let constant = /static let \w+ = Self\(rawValue: "([\w.]+)"\)$/
        let joining = /static func (\w+)\(_ (\w+): (\w+)\) -> Self \{ Self\(\.(\w+), (\w+)\.rawValue\) \}$/
        if let match = line.firstMatch(of: constant), type != "Kind" {
            if type.isEmpty {
                words.insert(String(match.1))
            } else {
                details[type, default: []].insert(String(match.1))
            }
        } else if let match = line.firstMatch(of: joining), type.isEmpty, match.1 == match.4, match.2 == match.5 {
            pairs[String(match.4)] = String(match.3)
        } else if let match = line.firstMatch(of: /static let (\w+) = Self\("(\w+)"\)$/), type == "Kind" {
            kinds[String(match.1)] = String(match.2)
        } else if let match = line.firstMatch(of: /^case (\w+)(?: = "([\w.]+)")?$/), scopes.last?.keyword == "enum" {
            details[type, default: []].insert(String(match.2 ?? match.1))
        } else {
            return !line.hasPrefix("case ") && (!line.contains("static ") || line.hasSuffix("-> Bool {"))
        }
        return true
    }
}
