import Foundation
import TestSupport
import Testing

@Suite(.watched) struct MoyaNativeNamesTests {
    private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL

    /// The declarations at the top level of the module, each with the line before it.
    private func declarations() throws -> [(line: String, attribute: String)] {
        let folder = root.appending(path: "Sources/Moya")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try files.flatMap { file in
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                .filter { !$0.hasPrefix("// ") }
            return zip(lines.dropFirst(), lines).filter { line, _ in
                (line.hasPrefix("public ") || line.hasPrefix("open "))
                    && line.contains(/^(public|open) (final )?(protocol|enum|struct|class|typealias|func)\b/)
            }
        }
    }

    @Test("Each name that exists for source compatibility says what to use in its place")
    func messages() throws {
        let declarations = try declarations().filter { !$0.line.contains("struct NativePlugin") }
        #expect(declarations.count > 40)
        for declaration in declarations {
            let isMarked = declaration.attribute.contains(/^@available\(swift, deprecated: 7, message: "[A-Z].*\."\)$/)
            #expect(isMarked, "\(declaration.line)")
        }
    }

    @Test("The name that a message tells to use is in the API of its module")
    func names() throws {
        let modules = ["PipelineCore", "PipelinePlugins", "PipelineAuth"]
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias"]
        var names: Set<Substring> = []
        for module in modules {
            let api = try String(contentsOf: root.appending(path: "api/\(module).txt"), encoding: .utf8)
            for line in api.split(separator: "\n") {
                let words = line.prefix { $0 != "(" }.split { !$0.isLetter && !$0.isNumber }
                guard let kind = words.firstIndex(where: { kinds.contains($0) }), kind + 1 < words.count else {
                    continue
                }
                names.insert(words[kind + 1])
            }
        }
        var count = 0
        for declaration in try declarations() {
            guard let match = declaration.attribute.firstMatch(of: /message: "Use (\w+)[\w<>]*( of (\w+))?\."/),
                match.3 != "HTTPTypes"
            else { continue }
            let isDeclared = names.contains(match.1)
            #expect(isDeclared, "\(declaration.attribute)")
            #expect(match.3.map { (modules + ["Pipeline"]).contains(String($0)) } ?? true, "\(declaration.attribute)")
            count += 1
        }
        #expect(count > 25)
    }
}
