import Foundation
import TestSupport
import Testing

@Suite("README.md", .watched)
struct ReadmeTests {
    private let readme: Markdown
    private let samples: [String: String]
    private let continuousIntegration: String

    init() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let root = folder.appending(path: "../..").standardizedFileURL
        readme = Markdown(try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8))
        continuousIntegration = try String(contentsOf: root.appending(path: ".ci/run"), encoding: .utf8)
        let source = try String(contentsOf: folder.appending(path: "ReadmeProgram.swift"), encoding: .utf8)
        samples = Samples.all(in: source)
    }

    @Test("Each Swift block is identical to a sample compiled here")
    func blocksAreSamples() {
        let blocks = readme.blocks(in: "swift")
        #expect(!blocks.isEmpty)
        for block in blocks {
            let isSample = samples.values.contains(block)
            #expect(isSample, "no sample reads:\n\(block)")
        }
    }

    @Test("Each sample is shown in README.md")
    func samplesAreUsed() {
        let blocks = readme.blocks(in: "swift")
        for (name, sample) in samples {
            let isShown = blocks.contains(sample)
            #expect(isShown, "README.md does not show the sample \(name)")
        }
    }

    @Test("The call of the enum prints the comment after it")
    func call() async throws {
        let output = Output()
        try await ReadmeProgram.$output.withValue(output) { try await ReadmeProgram.call() }
        let text = output.text.trimmingCharacters(in: .newlines)
        #expect(readme.lines.contains { $0.hasPrefix("print(") && $0.hasSuffix("  // \(text)") }, "\(text)")
    }

    @Test("README.md shows what explain() prints for the stack in the wrong order")
    func wrongOrder() {
        let output = Output()
        ReadmeProgram.$output.withValue(output) { ReadmeProgram.explain() }
        #expect(readme.blocks(in: "text") == [output.text.trimmingCharacters(in: .newlines)], "\(output.text)")
    }

    @Test("Continuous integration runs each command")
    func commands() {
        let lines = readme.blocks(in: "sh").flatMap { $0.split(separator: "\n") }
        let commands = lines.map { $0.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces) }
        #expect(commands == ["scripts/quickstart", "scripts/test"])
        for command in commands {
            let isRun = continuousIntegration.split(separator: "\n").contains { line in
                line.split(separator: " ").contains { $0 == command }
            }
            #expect(isRun, ".ci/run does not run \(command)")
        }
    }

    @Test(
        "README.md has the totals of the report of faults",
        arguments: [
            "pipeline", "pipeline-resilient", "pipeline-url-session", "async-http-client", "go", "aiohttp", "fetch",
        ]
    )
    func faults(client: String) throws {
        let report = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Comparisons/Faults/Results/report/REPORT.md")
        let rows = try String(contentsOf: report, encoding: .utf8).split(separator: "\n")
        let row = try #require(rows.first { $0.contains("](\(client).md)") })
        let counts = row.matches(of: /(\d+) of (\d+)/).map { (Int($0.1) ?? 0, Int($0.2) ?? 0) }
        let total = counts.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
        let line = try #require(readme.lines.first { $0.contains("REPORT.md") })
        #expect(line.contains("in \(total.0) of \(total.1)"))
    }

    @Test("Code begins by line 20, installation by line 45, and the page has at most 165 lines")
    func size() throws {
        let firstCode = try #require(readme.lines.firstIndex { $0.hasPrefix("```") })
        #expect(firstCode < 20)
        let install = try #require(readme.lines.firstIndex { $0.hasPrefix(".package(url:") })
        #expect(install < 45)
        #expect(readme.lines.count <= 165)
    }
}
