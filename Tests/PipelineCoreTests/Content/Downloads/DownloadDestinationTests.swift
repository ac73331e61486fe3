import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("DownloadDestination", .tags(.concurrent), .watched)
struct DownloadDestinationTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func target(
        _ name: String = "a.txt",
        options: DownloadDestination.Options = [],
        validationType: ValidationType = .anyStatus
    ) -> TestTarget {
        TestTarget(
            task: .downloadDestination(.file(folder.file(name), options: options)),
            validationType: validationType
        )
    }

    @Test("M156 An existing file is kept unless removePreviousFile is set")
    func existing() async throws {
        try folder.write("old", to: "a.txt")
        let provider = DownloadTests.provider(ScriptedTransport(always: .status(200, body: "new")))
        let error = await pipelineError { _ = try await provider.request(target()) }
        #expect(error?.code == .file(.exists))
        #expect(error?.response?.statusCode == 200)
        #expect(error?.exchanges.map(\.statusCode) == [200])
        #expect(error.map { "\($0)".contains(folder.url.lastPathComponent) } == false)
        #expect(folder.text(of: "a.txt") == "old")
        _ = try await provider.request(target(options: .removePreviousFile))
        #expect(folder.text(of: "a.txt") == "new")
        #expect(folder.names == ["a.txt"])
    }

    @Test("M156 Missing directories are created only with createIntermediateDirectories")
    func directories() async throws {
        let provider = DownloadTests.provider(ScriptedTransport(always: .status(200, body: "x")))
        let error = await pipelineError { _ = try await provider.request(target("b/c/a.txt")) }
        #expect(error?.code == .file(.notWritable))
        #expect(folder.names == [])
        _ = try await provider.request(target("b/c/a.txt", options: .createIntermediateDirectories))
        #expect(folder.text(of: "b/c/a.txt") == "x")
        _ = try await provider.request(target("b/c/a2.txt", options: .createIntermediateDirectories))
        #expect(folder.text(of: "b/c/a2.txt") == "x")
    }

    @Test("A download never replaces a directory and fails if a parent is a file")
    func directoryInPlace() async throws {
        try FileManager.default.createDirectory(at: folder.file("a.txt"), withIntermediateDirectories: false)
        try folder.write("file", to: "a.txt/inside")
        let provider = DownloadTests.provider(ScriptedTransport(always: .status(200, body: "x")))
        for options in [DownloadDestination.Options(), .removePreviousFile] {
            let error = await pipelineError { _ = try await provider.request(target(options: options)) }
            #expect(error?.code == .file(.directory))
        }
        let inside = target("a.txt/inside/b", options: .createIntermediateDirectories)
        let other = await pipelineError { _ = try await provider.request(inside) }
        #expect(other?.code == .file(.notWritable))
        #expect(folder.text(of: "a.txt/inside") == "file")
        #expect(folder.names == ["a.txt"])
    }

    @Test("F07 A symbolic link is not followed: the download fails, or removePreviousFile replaces the link")
    func symbolicLink() async throws {
        try folder.write("victim", to: "victim")
        let link = folder.file("a.txt")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file("victim"))
        let provider = DownloadTests.provider(ScriptedTransport(always: .status(200, body: "new")))
        let error = await pipelineError { _ = try await provider.request(target()) }
        #expect(error?.code == .file(.exists))
        _ = try await provider.request(target(options: .removePreviousFile))
        #expect(folder.text(of: "victim") == "victim")
        #expect(folder.text(of: "a.txt") == "new")
    }

    @Test("A destination that is not a file URL is refused")
    func notAFile() async throws {
        let place = try #require(URL(string: "https://example.com/a"))
        let provider = DownloadTests.provider(ScriptedTransport(always: .status(200, body: "x")))
        let task = RequestTask.downloadDestination(.file(place))
        let error = await pipelineError { _ = try await provider.request(TestTarget(task: task)) }
        #expect(error?.code == .file(.notWritable))
    }

    @Test("A custom destination receives the complete file and the response")
    func custom() async throws {
        let folder = folder
        let destination = DownloadDestination.custom { file, response in
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            return (folder.file("\(text)-\(response.statusCode).txt"), [.createIntermediateDirectories])
        }
        let provider = DownloadTests.provider(ScriptedTransport([.status(203, body: DownloadTests.body("x"))]))
        let response = try await provider.request(TestTarget(task: .downloadDestination(destination)))
        #expect(response.body.fileURL?.lastPathComponent == "x-203.txt")
        #expect(folder.names == ["x-203.txt"])
    }

    @Test("An error thrown by a custom destination fails the call and leaves no file")
    func customFailure() async throws {
        let journal = Journal()
        let destination = DownloadDestination.custom { file, _ in
            journal.add(file.path)
            throw TestFailure()
        }
        let provider = DownloadTests.provider(ScriptedTransport([.status(200, body: DownloadTests.body("x"))]))
        let error = await pipelineError {
            _ = try await provider.request(TestTarget(task: .downloadDestination(destination)))
        }
        #expect(error?.code == .file(.notWritable))
        #expect(error?.underlyingError is TestFailure)
        #expect(error.map { "\($0)".contains("s3cr3t") } == false)
        let path = try #require(journal.entries.first)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
