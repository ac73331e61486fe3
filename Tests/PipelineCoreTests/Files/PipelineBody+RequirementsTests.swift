import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PipelineBody of a file: requirements", .tags(.concurrent), .watched)
struct PipelineBodyRequirementsTests {
    #if os(Linux)
    @Test("A file of size 0 with content, as under /proc, has no known length, and an empty file has length 0")
    func fileWithoutLength() async throws {
        let file = PipelineBody.file(URL(filePath: "/proc/version"))
        #expect(file.byteCount == nil)
        #expect(try await file.collect(upTo: 1 << 20) == Data(contentsOf: URL(filePath: "/proc/version")))
        let error = await #expect(throws: PipelineError.self) { try await file.collect(upTo: 3) }
        #expect(error?.code == .limit(.bodyBytes))
        try await PipelineBodyTests.withFile(Data()) { #expect(PipelineBody.file($0).byteCount == 0) }
        #expect(PipelineBody.file(URL(filePath: "/proc/self/mem")).byteCount == nil)
    }

    /// Files whose beginning cannot be read (EIO), with a length of 0 and of 4096; some machines lack the second.
    static let failing = ["/proc/self/mem", "/sys/devices/software/power/autosuspend_delay_ms"]
        .filter { FileManager.default.fileExists(atPath: $0) }
        .map { URL(filePath: $0) }

    @Test("M05 A file whose content cannot be read is not sent, alone or in a form", arguments: failing, [false, true])
    func fileThatFails(file: URL, isForm: Bool) async throws {
        let form: MultipartFormData = [MultipartFormBodyPart(.file(file), name: "f")]
        let transport = ScriptedTransport([])
        let provider = Provider<TestTarget>(transport: transport)
        let target = TestTarget(method: .post, task: isForm ? .uploadMultipartFormData(form) : .uploadFile(file))
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .file(.unreadable))
        #expect(error?.reason.contains(file.lastPathComponent) == true)
        #expect(error?.underlyingError != nil)
        #expect(transport.sent.isEmpty)
    }
    #endif

    @Test("A symbolic link is read as the file that it points to")
    func symbolicLink() async throws {
        try await PipelineBodyTests.withFile(Data("abc".utf8)) { url in
            let link = url.appendingPathExtension("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
            defer { try? FileManager.default.removeItem(at: link) }
            #expect(PipelineBody.file(link).byteCount == 3)
            #expect(try await PipelineBody.file(link).collect(upTo: 3) == Data("abc".utf8))
        }
    }

    static let unreadable = [
        URL(filePath: "/nowhere/at/all/missing.txt"), FileManager.default.temporaryDirectory,
        URL(string: "https://example.com/etc/hostname"),
    ]

    @Test("A missing file, a directory or a remote URL fails with an error that names it", arguments: unreadable)
    func unreadableFile(_ url: URL?) async throws {
        let url = try #require(url)
        let body = PipelineBody.file(url)
        #expect(body.byteCount == nil)
        let error = await #expect(throws: PipelineError.self) { try await body.collect(upTo: 1 << 20) }
        #expect(error?.code == .file(.unreadable))
        #expect(error?.reason.contains(url.lastPathComponent) == true)
    }
}
