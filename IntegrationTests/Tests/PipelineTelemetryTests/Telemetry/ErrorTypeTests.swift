import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineTelemetry

@Suite("ErrorType", .watched)
struct ErrorTypeTests {
    /// Returns the codes and kinds that the extensions in the sources define.
    private func definedNames() throws -> Set<String> {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        // Definitions in nested types, which are details, are indented further.
        let definition = /\n    public static let \w+ = Self\((?:rawValue: )?"([\w.]+)"\)/
        var names: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = "\n" + (try String(contentsOf: file, encoding: .utf8))
            for part in text.split(separator: "\nextension ") where part.hasPrefix("PipelineError.Code") {
                guard part.hasPrefix("PipelineError.Code {") || part.hasPrefix("PipelineError.Code.Kind {") else {
                    continue
                }
                let end = part.firstRange(of: "\n}")?.lowerBound ?? part.endIndex
                names.formUnion(part[..<end].matches(of: definition).map { String($0.output.1) })
            }
        }
        return names
    }

    @Test("Each code and each kind that this package defines is a value of error.type")
    func codes() throws {
        let names = try definedNames()
        #expect(names.isSuperset(of: ["cancelled", "cookies.unreadable", "oauth", "pagination", "timeout"]))
        for name in names { #expect(ErrorType.of(PipelineError.Code(rawValue: name)) == name) }
        #expect(ErrorType.of(PipelineError.Code(.init("oauth"), "server")) == "oauth.server")
        #expect(ErrorType.of(PipelineError.Code(rawValue: "mine")) == ErrorType.other)
    }
}
