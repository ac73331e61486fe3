import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Files that cannot be parts", .watched)
struct MultipartFileErrorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func failure(_ url: URL) -> PipelineError? {
        let form: MultipartFormData = [.field("a"), MultipartFormBodyPart(.file(url), name: "f")]
        return #expect(throws: PipelineError.self) { try form.makeBody() }
    }

    @Test("M65 A missing file, a directory or a special file fails with an error that shows only its name")
    func unreadable() throws {
        let remote = try #require(URL(string: "https://user:pass@example.com/dir/remote?token=1"))
        let fifo = folder.url.appending(component: "fifo")
        mkfifo(fifo.path, 0o600)
        for url in [folder.url.appending(component: "missing"), folder.url, fifo, URL(filePath: "/dev/null"), remote] {
            let error = failure(url)
            #expect(error?.code == .file(url == folder.url ? .directory : .unreadable))
            #expect(error?.reason.contains("\"\(url.lastPathComponent)\" of part 2, \"f\"") == true)
            #expect(error?.description.contains("/") == false)
            #expect(error?.description.contains("token") == false)
        }
    }

    @Test("An unreadable file fails with a typed error", .enabled(if: geteuid() != 0, "root may read everything"))
    func forbidden() throws {
        let file = try folder.file("secret", byteCount: 3)
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: file.path)
        #expect(failure(file)?.code == .file(.unreadable))
    }

    @Test("A symbolic link sends its target under the link's name, and a dangling link fails")
    func symbolicLink() async throws {
        let file = try folder.file("real.txt", Data("abc".utf8))
        let link = folder.url.appending(component: "link.png")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let body = try MultipartFormData(
            boundary: "B",
            parts: [MultipartFormBodyPart(.file(link), name: "f")]
        ).makeBody().body
        let text = try await body.text()
        #expect(text.contains("filename=\"link.png\"\r\nContent-Type: image/png\r\n\r\nabc\r\n"))
        #expect(body.byteCount == text.utf8.count)
        try FileManager.default.removeItem(at: file)
        #expect(failure(link)?.code == .file(.unreadable))
    }

    @Test("A file deleted before the body is read fails with a typed error")
    func gone() async throws {
        let file = try folder.file("f", byteCount: 10)
        let body = try MultipartFormData(parts: [MultipartFormBodyPart(.file(file), name: "f")]).makeBody().body
        try FileManager.default.removeItem(at: file)
        #expect(try await body.drain().error?.code == .file(.unreadable))
    }
}
