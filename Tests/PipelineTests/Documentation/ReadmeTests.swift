import Foundation
import Testing

@Suite("README.md")
struct ReadmeTests {
    private let readme: Markdown
    private let samples: [String: String]
    private let continuousIntegration: String
    /// What a guide shows, and README.md may.
    private let guideSamples: [String: String]

    init() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let root = folder.appending(path: "../../..").standardizedFileURL
        readme = Markdown(try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8))
        continuousIntegration = try String(contentsOf: root.appending(path: ".ci/run"), encoding: .utf8)
        var samples: [String: String] = [:]
        for file in ["ReadmeProgram", "ReadmeSamples", "ReadmePluginSample"] {
            let source = try String(contentsOf: folder.appending(path: file + ".swift"), encoding: .utf8)
            samples.merge(Samples.all(in: source)) { $0 + "\n\n" + $1 }
        }
        self.samples = samples
        var guideSamples: [String: String] = [:]
        for file in ["RecordingSamples", "APIRequestSamples"] {
            let source = try String(contentsOf: folder.appending(path: file + ".swift"), encoding: .utf8)
            guideSamples.merge(Samples.all(in: source)) { $1 }
        }
        self.guideSamples = guideSamples
    }

    @Test("Each Swift block is, word for word, a sample that is compiled here")
    func blocksAreSamples() {
        let blocks = readme.blocks(in: "swift")
        #expect(!blocks.isEmpty)
        for block in blocks {
            let isSample = samples.values.contains(block) || guideSamples.values.contains(block)
            #expect(isSample, "no sample reads:\n\(block)")
        }
    }

    @Test("Each sample is shown")
    func samplesAreUsed() {
        let blocks = readme.blocks(in: "swift")
        for (name, sample) in samples {
            let isShown = blocks.contains(sample)
            #expect(isShown, "README.md does not show the sample \(name)")
        }
    }

    @Test("The program prints what README.md says")
    func programOutput() async throws {
        let output = Output()
        try await ReadmeProgram.$output.withValue(output) { try await ReadmeProgram.run() }
        #expect(readme.blocks(in: "text").contains(output.text.trimmingCharacters(in: .newlines)), "\(output.text)")
    }

    @Test("Each command is one that continuous integration runs")
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

    @Test("The first code comes by line 25, and the page has no more than 250 lines")
    func size() throws {
        let first = try #require(readme.lines.firstIndex { $0.hasPrefix("```") })
        #expect(first < 25)
        #expect(readme.lines.count <= 250)
    }
}
