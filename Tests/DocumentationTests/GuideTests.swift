import Foundation
import TestSupport
import Testing

@Suite("The guides", .watched)
struct GuideTests {
    private let root: URL
    private let pages: [String: Markdown]
    private let samples: [String: [String: String]]

    init() throws {
        root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        pages = try Self.read(root.appending(path: "Documentation"), endingIn: ".md").mapValues(Markdown.init)
        var samples: [String: [String: String]] = [:]
        for folder in [
            "Tests/DocumentationTests", "Tests/DocumentationTests/Traits",
            "Tests/PipelineMoyaTests/Samples", "IntegrationTests/Tests/DocumentationTests",
            "IntegrationTests/Tests/PipelineCombineTests",
        ] {
            for (file, source) in try Self.read(root.appending(path: folder), endingIn: "Samples.swift")
            where !file.hasPrefix("Readme") {
                samples[file] = Samples.all(in: source)
            }
        }
        self.samples = samples
    }

    private static func read(_ folder: URL, endingIn ending: String) throws -> [String: String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [:] }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(ending) }
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, try String(contentsOf: folder.appending(path: name), encoding: .utf8))
            }
        )
    }

    @Test("Each Swift block is identical to a sample compiled in the tests")
    func blocksAreSamples() {
        let all = samples.values.flatMap(\.values)
        #expect(pages.count > 5)
        for (name, page) in pages {
            for block in page.blocks(in: "swift") {
                let isSample = all.contains(block)
                #expect(isSample, "\(name): no sample reads:\n\(block)")
            }
        }
    }

    @Test("Each sample is shown in a guide")
    func samplesAreUsed() {
        let blocks = pages.values.flatMap { $0.blocks(in: "swift") }
        for (file, samples) in samples {
            for (name, sample) in samples {
                let isShown = blocks.contains(sample)
                #expect(isShown, "no guide shows the sample \(name) of \(file)")
            }
        }
    }

    @Test("Each guide is listed with its title and its first paragraph")
    func list() throws {
        let index = try #require(pages["README.md"]).lines
        for (name, page) in pages where name != "README.md" {
            let paragraph = page.lines.dropFirst(2).prefix { !$0.isEmpty }.joined(separator: " ")
            #expect(index.contains("- [\(page.lines[0].dropFirst(2))](\(name)): \(paragraph)"))
        }
    }
}
