import Foundation
import Pipeline
import PipelineHashes
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Side files of large bodies", .watched)
struct HARSideFilesTests {
    private func entry(_ response: RecordedExchange.Response, body: Data? = nil) -> HAREntry {
        HAREntry(RecordedExchange(request: .init(method: "PUT", url: "http://h/", body: body), response: response))
    }

    private func path(_ entry: HAREntry) -> String? { entry.json["response"]?["content"]?["_file"]?.string }

    @Test("Large bodies move to files named by SHA-256, with mode 0600, and are read back unchanged")
    func large() throws {
        let bench = try HARBench()
        let body = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let original = entry(
            .init(status: 200, headers: [.contentType: "a/b"], body: body),
            body: Data("abcdefghij".utf8)
        )
        let moved = try HARSideFiles(for: bench.url("my.har"), threshold: 9).moveBodies(of: original)
        let digest = SHA256.hash([UInt8](body)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(path(moved) == "my-files/" + digest)
        #expect(moved.json["response"]?["content"]?["text"] == nil)
        #expect(moved.json["response"]?["content"]?["encoding"] == nil)
        #expect(moved.json["request"]?["postData"]?["text"] == nil)
        #expect(moved.json.data().count < 1500)
        #expect(try moved.exchange(sideFiles: bench.folder) == original.exchange(sideFiles: nil))
        let files = try FileManager.default.contentsOfDirectory(atPath: bench.url("my-files").path)
        #expect(files.count == 2)
        for file in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: bench.url("my-files/\(file)").path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        #expect(try HARSideFiles(for: bench.url("my.har"), threshold: 9).moveBodies(of: moved) == moved)
    }

    @Test("Bodies up to the threshold stay in the entry, even if their text is longer")
    func small() throws {
        let bench = try HARBench()
        let files = HARSideFiles(for: bench.url(), threshold: 10)
        let stays = entry(.init(status: 200, body: Data(repeating: 0xff, count: 10)), body: Data("0123456789".utf8))
        #expect(try files.moveBodies(of: stays) == stays)
        #expect(bench.names.isEmpty)
        #expect(try path(files.moveBodies(of: entry(.init(status: 200, body: Data(count: 11))))) != nil)
        let standard = entry(.init(status: 200, body: Data(repeating: 0x61, count: 1 << 20)))
        #expect(try HARSideFiles(for: bench.url()).moveBodies(of: standard) == standard)
    }

    @Test("A content-coded body stays content-coded in a side file")
    func coded() throws {
        let bench = try HARBench()
        let original = entry(
            .init(status: 200, headers: [.contentEncoding: "gzip"], body: Data(count: 20), isCoded: true)
        )
        let moved = try HARSideFiles(for: bench.url(), threshold: 9).moveBodies(of: original)
        #expect(try moved.exchange(sideFiles: bench.folder).response?.isCoded == true)
        let text =
            #"{"status":200,"headers":[{"name":"Content-Encoding","value":"br"}],"content":{"encoding":"base64","text":"[\"AAAAAAAAAAAAAAAA\"]"}}"#
        let pieces = try HARSideFiles(for: bench.url(), threshold: 9).moveBodies(of: HAREntry(response: text))
        #expect(try pieces.exchange(sideFiles: bench.folder).response?.isCoded == true)
        #expect(try pieces.exchange(sideFiles: bench.folder).response?.body == Data(count: 12))
    }

    @Test(
        "Paths that are absolute, lead out of the folder or do not name a regular file are refused",
        arguments: [
            "/etc/passwd", "../secret", "a/../../secret", "a/..", "..", ".", "", "a//b", "./a", "a/", "missing", "a",
            "a/loop",
            "link", "a/link", "up/secret", "a/inside", "a\u{0}b", "fifo", "fifo/x",
        ]
    )
    func escapes(path: String) throws {
        let bench = try HARBench()
        let folder = bench.url("har")
        let manager = FileManager.default
        try manager.createDirectory(at: folder.appending(path: "a"), withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: bench.url("secret"))
        try Data("x".utf8).write(to: folder.appending(path: "a/file"))
        for (link, target) in [
            ("link", "../secret"), ("a/link", "/etc/passwd"), ("up", ".."), ("a/loop", "loop"), ("a/inside", "file"),
        ] {
            try manager.createSymbolicLink(atPath: folder.appending(path: link).path, withDestinationPath: target)
        }
        #expect(mkfifo(folder.appending(path: "fifo").path, 0o600) == 0)
        let content = JSONNode.object(["_file": .string(path)])
        let entry = HAREntry(
            json: .object([
                "request": .object(["method": .string("GET"), "url": .string("u")]),
                "response": .object(["status": .integer(200), "content": content]),
            ])
        )
        #expect(failure { _ = try entry.exchange(sideFiles: folder) }?.code == .recording(.corrupt))
        #expect(failure { _ = try entry.exchange(sideFiles: nil) }?.code == .recording(.corrupt))
    }

    @Test("Writing refuses a symbolic link in place of the folder of side files")
    func linkedFolder() throws {
        let bench = try HARBench()
        let elsewhere = bench.url("elsewhere")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: bench.url("my-files"), withDestinationURL: elsewhere)
        let files = HARSideFiles(for: bench.url("my.har"), threshold: 9)
        let error = failure { _ = try files.moveBodies(of: entry(.init(status: 200, body: Data(count: 10)))) }
        #expect(error?.code == .recording(.notWritten))
        #expect(error?.reason.contains("my-files") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [])
    }

    @Test("A file in a subfolder is read for a response and for a request")
    func nested() throws {
        let bench = try HARBench()
        try FileManager.default.createDirectory(at: bench.url("a"), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: bench.url("a/b.txt"))
        let entry = try HAREntry(
            #"{"request":{"method":"PUT","url":"u","postData":{"_file":"a/b.txt"}},"response":{"status":200,"content":{"_file":"a/b.txt"}}}"#
        )
        let url = try bench.write(entries: [String(decoding: entry.json.data(), as: UTF8.self)])
        let exchange = try HARFile(contentsOf: url).exchange(at: 0)
        #expect(exchange.response?.body == Data("x".utf8))
        #expect(exchange.request.body == Data("x".utf8))
    }
}
