import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: downloads", .besideHTTPBin, .realTime, .watched)
struct DownloadTests {
    private struct Page: HTTPBinTarget {
        var path: String
        var task: RequestTask
        var headers: [String: String]?
        var validationType = ValidationType.automatic
    }

    private let provider = Provider<Page>()

    private func withFolder<Value>(_ work: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await work(folder)
    }

    private func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("a download creates its folders and replaces an older file")
    func file() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("deep/er/letters.bin")
            for byteCount in [100_000, 10, 102_400] {
                let destination = DownloadDestination.file(
                    file,
                    options: [.createIntermediateDirectories, .removePreviousFile]
                )
                let target = Page(path: "/range/\(byteCount)", task: .downloadDestination(destination))
                let response = try await provider.request(target)
                #expect(response.statusCode == 200)
                #expect(response.body.fileURL == file)
                #expect(try Data(contentsOf: file) == rangeSample(0..<byteCount))
            }
            #expect(try names(in: file.deletingLastPathComponent()) == ["letters.bin"])
        }
    }

    @Test("an image and a coded response are saved decoded", arguments: ["/image/png", "/gzip", "/brotli"])
    func content(path: String) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            // URLSession decodes unrequested codings; other transports save the bytes as they arrive.
            let provider = path == "/image/png" ? self.provider : Provider(transport: URLSessionTransport())
            _ = try await provider.request(Page(path: path, task: .downloadDestination(.file(file))))
            let data = try Data(contentsOf: file)
            if path == "/image/png" {
                #expect(data.count == 8_090)
                #expect(data.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            } else {
                #expect(String(decoding: data, as: UTF8.self).contains("\"method\": \"GET\""))
            }
        }
    }

    @Test("an unsuccessful response stays in memory and keeps the old file", arguments: [404, 418, 500, 204])
    func notContent(code: Int) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            try Data("older".utf8).write(to: file)
            let destination = DownloadDestination.file(file, options: .removePreviousFile)
            let response = try await provider.request(
                Page(path: "/status/\(code)", task: .downloadDestination(destination), validationType: .anyStatus)
            )
            #expect(response.statusCode == code)
            #expect(response.body.fileURL == nil)
            if code == 418 { #expect(try response.mapString().contains("teapot")) }
            #expect(try Data(contentsOf: file) == Data("older".utf8))
            #expect(try names(in: folder) == ["file"])
        }
    }

    @Test("without options, an existing file is kept and a missing folder is not created")
    func refusals() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            try Data("older".utf8).write(to: file)
            let target = Page(path: "/range/10", task: .downloadDestination(.file(file)))
            #expect(await provider.failure(target)?.code == .file(.exists))
            #expect(try Data(contentsOf: file) == Data("older".utf8))
            let missing = folder.appendingPathComponent("not/there")
            let nowhere = Page(path: "/range/10", task: .downloadDestination(.file(missing)))
            #expect(await provider.failure(nowhere)?.code.isKind(of: .file) == true)
            #expect(try names(in: folder) == ["file"])
        }
    }

    @Test("a download can have parameters")
    func parameters() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("echo.json")
            let task = RequestTask.downloadParameters(
                parameters: ["q": "Zoë & co"],
                encoding: URLEncoding.default,
                destination: .file(file)
            )
            _ = try await provider.request(Page(path: "/anything", task: task))
            let echo = try JSONDecoder().decode(Echo.self, from: Data(contentsOf: file))
            #expect(echo.args == ["q": "Zoë & co"])
        }
    }

    @Test("the server's suggested name cannot leave the folder")
    func suggestedName() async throws {
        for (disposition, name) in [
            ("attachment; filename=\"cover.jpg\"", "cover.jpg"), ("attachment; filename=\"../../evil.sh\"", "evil.sh"),
            ("attachment; filename*=UTF-8''Zo%C3%AB.txt", "Zoë.txt"), ("inline", "response-headers"),
        ] {
            try await withFolder { folder in
                let task = RequestTask.downloadParameters(
                    parameters: ["Content-Disposition": disposition],
                    encoding: URLEncoding.queryString,
                    destination: .suggestedName(in: folder)
                )
                _ = try await provider.request(Page(path: "/response-headers", task: task))
                #expect(try names(in: folder) == [name])
            }
        }
    }

    @Test("a download follows a redirect")
    func redirected() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            let task = RequestTask.downloadParameters(
                parameters: ["url": "/range/5000"],
                encoding: URLEncoding.queryString,
                destination: .file(file)
            )
            let response = try await provider.request(Page(path: "/redirect-to", task: task))
            #expect(response.exchanges.count == 2)
            #expect(try Data(contentsOf: file) == rangeSample(0..<5_000))
        }
    }

    @Test("a download that times out leaves no file behind")
    func timedOut() async throws {
        try await withFolder { folder in
            let task = RequestTask.downloadParameters(
                parameters: ["numbytes": 10, "duration": 8],
                encoding: URLEncoding.queryString,
                destination: .file(folder.appendingPathComponent("file"))
            )
            let options = RequestOptions { $0.attemptTimeout = .milliseconds(300) }
            let error = try #require(await provider.failure(Page(path: "/drip", task: task), options: options))
            #expect(error.code == .timeout(.attempt))
            #expect(try names(in: folder).isEmpty)
        }
    }

    // The ETag of httpbin's /range has no quotation marks and so is invalid (RFC 9110 §8.8.3), it sends no
    // Last-Modified, and it ignores If-Range. Nothing shows that two responses match, so they must not be joined.
    @Test("httpbin: without a strong ETag, a download that was cut restarts and is complete")
    func notResumed() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            let destination = DownloadDestination.file(file).resumable(at: folder.appendingPathComponent("part"))
            func target(_ seconds: Int) -> Page {
                let path = "/range/60000"
                let parameters: RequestParameters = ["duration": seconds, "chunk_size": 6_000]
                return Page(
                    path: path,
                    task: .downloadParameters(
                        parameters: parameters,
                        encoding: URLEncoding.queryString,
                        destination: destination
                    )
                )
            }
            let options = RequestOptions { $0.attemptTimeout = .milliseconds(500) }
            #expect(await provider.failure(target(20), options: options)?.code == .timeout(.attempt))
            let response = try await provider.request(target(0))
            #expect(response.statusCode == 200)
            #expect(response.exchanges.map { $0.request.headers[.range] } == [nil])
            #expect(try Data(contentsOf: file) == rangeSample(0..<60_000))
            #expect(try names(in: folder) == ["file"])
        }
    }

    @Test("a target that requests a range on its own gets that range")
    func part() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            let target = Page(
                path: "/range/1000",
                task: .downloadDestination(.file(file)),
                headers: ["Range": "bytes=100-199"]
            )
            let response = try await provider.request(target)
            #expect(response.statusCode == 206)
            #expect(try Data(contentsOf: file) == rangeSample(100..<200))
        }
    }
}
