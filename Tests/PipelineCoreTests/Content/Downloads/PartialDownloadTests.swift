import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Resumed downloads", .tags(.concurrent), .watched)
struct PartialDownloadTests {
    static let text = "0123456789"
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var target: TestTarget { target("a") }

    func target(_ path: String, headers: [String: String]? = nil) -> TestTarget {
        let destination = DownloadDestination.file(folder.file("done"), options: .removePreviousFile)
        return TestTarget(
            path: path,
            task: .downloadDestination(destination.resumable(at: folder.file("part"))),
            headers: headers,
            validationType: .successCodes
        )
    }

    /// A stream of these bytes that ends in a lost connection.
    static func broken(after text: String) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            continuation.yield(Data(text.utf8))
            continuation.finish(throwing: PipelineError(.connectionLost, "by script"))
        }
    }

    /// A response with the first `count` bytes of the text that ends in a lost connection.
    static func cut(_ count: Int, _ headers: HTTPFields = [.eTag: "\"v1\""]) -> ScriptedTransport.Step {
        let chunks = broken(after: String(text.prefix(count)))
        return .status(200, headers: headers, body: .stream(chunks, byteCount: text.utf8.count))
    }

    static func rest(
        from first: Int,
        range: String? = nil,
        tag: String? = "\"v1\"",
        body: String? = nil
    ) -> ScriptedTransport.Step {
        var headers: HTTPFields = [.contentRange: range ?? "bytes \(first)-9/10"]
        headers[.eTag] = tag
        return .status(206, headers: headers, body: body ?? String(text.dropFirst(first)))
    }

    /// Makes `calls` calls, of which only the last succeeds, and returns the requests that were sent.
    func run(_ steps: [ScriptedTransport.Step], calls: Int = 2) async throws -> [PipelineRequest] {
        let transport = ScriptedTransport(steps)
        let provider = Provider<TestTarget>(transport: transport)
        for call in 1..<calls {
            let error = await pipelineError { _ = try await provider.request(target) }
            #expect(error != nil, "call \(call)")
        }
        _ = try await provider.request(target)
        return transport.sent
    }

    @Test("F08 The next call requests the rest and appends it")
    func resume() async throws {
        let sent = try await run([Self.cut(4), Self.rest(from: 4)])
        #expect(sent.map { $0.headers[.range] } == [nil, "bytes=4-"])
        #expect(sent.map { $0.headers[.ifRange] } == [nil, "\"v1\""])
        #expect(sent.allSatisfy { $0.headers[.acceptEncoding] == "identity" })
        #expect(folder.text(of: "done") == Self.text)
        #expect(folder.names == ["done"])
    }

    @Test("F08 A download resumes each time the connection is lost")
    func resumeTwice() async throws {
        let chunks = Self.broken(after: "456")
        let second = ScriptedTransport.Step.status(
            206,
            headers: [.contentRange: "bytes 4-9/10", .eTag: "\"v1\""],
            body: .stream(chunks, byteCount: 6)
        )
        let sent = try await run([Self.cut(4), second, Self.rest(from: 7)], calls: 3)
        #expect(sent.map { $0.headers[.range] } == [nil, "bytes=4-", "bytes=7-"])
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("The partial file and its record have mode 0600, and the record shows no URL")
    func kept() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport([Self.cut(4)]))
        var secret = target("a")
        secret.base = "https://api.example.com/v1?token=s3cr3t"
        _ = await pipelineError { _ = try await provider.request(secret) }
        #expect(folder.names == ["part", "part.resume"])
        #expect(folder.text(of: "part") == "0123")
        #expect(try folder.mode(of: "part") == 0o600)
        #expect(try folder.mode(of: "part.resume") == 0o600)
        let record = try #require(folder.text(of: "part.resume"))
        #expect(record.contains("v1"))
        #expect(!record.contains("s3cr3t") && !record.contains("example"))
    }

    @Test(
        "F08 If the server ignores the range, the complete response replaces the partial file",
        arguments: ["\"v1\"", "\"v2\""]
    )
    func whole(_ tag: String) async throws {
        let sent = try await run([Self.cut(4), .status(200, headers: [.eTag: tag], body: "abcdefghij")])
        #expect(sent.count == 2)
        #expect(folder.text(of: "done") == "abcdefghij")
        #expect(folder.names == ["done"])
    }

    @Test(
        "F08 A 206 that is not exactly the rest restarts the download and is never appended",
        arguments: [
            (4, "bytes 4-9/10", "\"v2\""), (4, "bytes 3-9/10", "\"v1\""), (4, "bytes 5-9/10", "\"v1\""),
            (4, "bytes 4-8/10", "\"v1\""), (4, "bytes 4-9/11", "\"v1\""), (4, "bytes 4-9/*", "\"v1\""),
            (4, "bytes 4-10/11", "\"v1\""), (4, "items 4-9/10", "\"v1\""), (4, "", "\"v1\""),
            (4, "bytes 4-9/10, bytes 4-9/10", "\"v1\""), (4, "bytes 4-9/10", "W/\"v1\""), (4, "bytes 4-9/10", nil),
        ] as [(Int, String, String?)]
    )
    func restart(_ first: Int, _ range: String, _ tag: String?) async throws {
        let whole = ScriptedTransport.Step.status(200, headers: [.eTag: "\"v2\""], body: "abcdefghij")
        let sent = try await run([Self.cut(first), Self.rest(from: first, range: range, tag: tag), whole])
        #expect(sent.count == 3)
        #expect(sent.last?.headers[.range] == nil && sent.last?.headers[.ifRange] == nil)
        #expect(folder.text(of: "done") == "abcdefghij")
        #expect(folder.names == ["done"])
    }

    @Test("F08 A 206 whose body length differs from its range restarts the download")
    func wrongLength() async throws {
        let whole = ScriptedTransport.Step.status(200, headers: [.eTag: "\"v1\""], body: Self.text)
        let sent = try await run([Self.cut(4), Self.rest(from: 4, body: "45678"), whole])
        #expect(sent.count == 3)
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("F08 A 206 with a content coding restarts the download")
    func codedRest() async throws {
        let whole = ScriptedTransport.Step.status(200, headers: [.eTag: "\"v1\""], body: Self.text)
        let headers: HTTPFields = [.contentRange: "bytes 4-9/10", .eTag: "\"v1\"", .contentEncoding: "gzip"]
        let sent = try await run([Self.cut(4), .status(206, headers: headers, body: "456789"), whole])
        #expect(sent.count == 3)
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("An interrupted body of unknown length leaves no partial file")
    func noLength() async throws {
        let chunks = Self.broken(after: "0123")
        let step = ScriptedTransport.Step.status(200, headers: [.eTag: "\"v1\""], body: .stream(chunks))
        _ = await pipelineError {
            _ = try await Provider<TestTarget>(transport: ScriptedTransport([step])).request(target)
        }
        #expect(folder.names == [])
    }

    @Test("Concurrent calls for one partial file get the complete file or file.busy, and leave no part")
    func race() async throws {
        let headers: HTTPFields = [.eTag: "\"v1\""]
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200, headers: headers, body: Self.text))
        )
        let part = folder.file("part")
        for _ in 0..<400 {
            let outcomes = await withTaskGroup(of: String.self) { group in
                for index in 0..<4 {
                    let file = folder.file("done\(index)")
                    group.addTask {
                        let destination = DownloadDestination.file(file, options: .removePreviousFile).resumable(
                            at: part
                        )
                        let target = TestTarget(task: .downloadDestination(destination))
                        let error = await pipelineError { _ = try await provider.request(target) }
                        if let error { return error.code.rawValue }
                        return (try? Data(contentsOf: file)) == Data(Self.text.utf8) ? "whole" : "another file"
                    }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(outcomes.isSubset(of: ["whole", "file.busy"]), "\(outcomes)")
        }
        #expect(folder.names.allSatisfy { $0.hasPrefix("done") }, "\(folder.names)")
    }

    @Test("A stream of the same target starts from the beginning")
    func stream() async throws {
        let transport = ScriptedTransport([Self.cut(4), .status(200, body: Self.text)])
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target) }
        let response = try await provider.stream(target)
        #expect(transport.sent.last?.headers.contains(.range) == false)
        #expect(try await response.response.body.collect(upTo: 100) == Data(Self.text.utf8))
    }

    @Test("Only a GET request keeps a partial file")
    func post() async throws {
        var post = target
        post.method = .post
        let provider = Provider<TestTarget>(transport: ScriptedTransport([Self.cut(4)]))
        _ = await pipelineError { _ = try await provider.request(post) }
        #expect(folder.names == [])
    }

    @Test("The directory of the partial file is created")
    func folderOfPart() async throws {
        let destination = DownloadDestination.file(folder.file("done")).resumable(at: folder.file("x/y/part"))
        let provider = Provider<TestTarget>(transport: ScriptedTransport([Self.cut(4), Self.rest(from: 4)]))
        let target = TestTarget(task: .downloadDestination(destination))
        _ = await pipelineError { _ = try await provider.request(target) }
        #expect(folder.text(of: "x/y/part") == "0123")
        _ = try await provider.request(target)
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("A plugin may send twice and hold both responses")
    func twice() async throws {
        let headers: HTTPFields = [.eTag: "\"v1\""]
        let transport = ScriptedTransport(always: .status(200, headers: headers, body: Self.text))
        let twice = PluginStack.intercept { request, _, next in
            let first = try await next(request)
            let second = try await next(request)
            withExtendedLifetime(first) {}
            return second
        }
        _ = try await Provider<TestTarget>(transport: transport, plugins: [twice]).request(target)
        #expect(folder.text(of: "done") == Self.text)
        #expect(folder.names == ["done"])
    }

    @Test("T10 A retry resumes from the bytes that the failed attempt kept")
    func secondAttempt() async throws {
        let chunks = Self.broken(after: "45")
        let half = ScriptedTransport.Step.status(
            206,
            headers: [.contentRange: "bytes 4-9/10", .eTag: "\"v1\""],
            body: .stream(chunks, byteCount: 6)
        )
        let transport = ScriptedTransport([Self.cut(4), half, Self.rest(from: 6)])
        let retry = PluginStack.intercept { request, _, next in
            do { return try await next(request) } catch { return try await next(request) }
        }
        _ = await pipelineError { _ = try await Provider<TestTarget>(transport: transport).request(target) }
        _ = try await Provider<TestTarget>(transport: transport, plugins: [retry]).request(target)
        #expect(transport.sent.map { $0.headers[.range] } == [nil, "bytes=4-", "bytes=6-"])
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("A complete download that cannot be moved to its destination leaves no partial file")
    func wholePart() async throws {
        try folder.write("old", to: "done")
        let destination = DownloadDestination.file(folder.file("done")).resumable(at: folder.file("part"))
        let headers: HTTPFields = [.eTag: "\"v1\""]
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200, headers: headers, body: "x"))
        )
        let error = await pipelineError {
            _ = try await provider.request(TestTarget(task: .downloadDestination(destination)))
        }
        #expect(error?.code == .file(.exists))
        #expect(folder.names == ["done"])
        #expect(folder.text(of: "done") == "old")
    }

    @Test("F08 A 416 restarts the download once")
    func notSatisfiable() async throws {
        let whole = ScriptedTransport.Step.status(200, body: Self.text)
        let sent = try await run([Self.cut(4), .status(416, headers: [.contentRange: "bytes */3"]), whole])
        #expect(sent.count == 3)
        #expect(folder.text(of: "done") == Self.text)
        #expect(folder.names == ["done"])
    }

    @Test("A 416 to a restarted download fails the call instead of restarting it again")
    func endless() async throws {
        let transport = ScriptedTransport { _, index in index == 0 ? Self.cut(4) : .status(416) }
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target) }
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .unacceptableStatus)
        #expect(transport.sent.count == 3)
    }

    @Test("Rule 15 A restart counts as an exchange")
    func exchangeLimit() async throws {
        let transport = ScriptedTransport([Self.cut(4), .status(416), .status(200, body: Self.text)])
        let provider = Provider<TestTarget>(
            transport: transport,
            configuration: .init(limits: ProviderConfiguration.Limits(exchangeCount: 1))
        )
        _ = await pipelineError { _ = try await provider.request(target) }
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .limit(.exchanges))
        #expect(transport.sent.count == 2)
    }

    @Test("The exchanges include a restart")
    func exchanges() async throws {
        let transport = ScriptedTransport([Self.cut(4), .status(416), .status(200, body: Self.text)])
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target) }
        let response = try await provider.request(target)
        #expect(response.exchanges.map(\.statusCode) == [416, 200])
        #expect(response.exchanges.map(\.hop) == [0, 0])
    }

    @Test(
        "A partial file is kept only with a strong validator",
        arguments: [
            ([.eTag: "\"v\""], true), ([.eTag: "W/\"v\""], false), ([.eTag: "v"], false), ([:], false),
            ([.eTag: "\"\""], false), ([.eTag: "\""], false),
            ([.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"], false),
            ([.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:49:38 GMT"], true),
            ([.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:49:37 GMT"], false),
            (
                [
                    .eTag: "W/\"v\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
                    .date: "Mon, 07 Nov 1994 08:49:38 GMT",
                ], false
            ),
            ([.eTag: "\"v\"", .contentEncoding: "gzip"], false),
            ([.eTag: "\"v\"", .contentEncoding: "Identity"], true),
        ] as [(HTTPFields, Bool)]
    )
    func validators(_ headers: HTTPFields, _ isKept: Bool) async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport([Self.cut(4, headers)]))
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .connectionLost)
        #expect(folder.names == (isKept ? ["part", "part.resume"] : []))
    }

    @Test("If-Range repeats the Last-Modified date unchanged")
    func date() async throws {
        let fields: HTTPFields = [
            .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 09:00:00 GMT",
        ]
        var headers = fields
        headers[.contentRange] = "bytes 4-9/10"
        let sent = try await run([Self.cut(4, fields), .status(206, headers: headers, body: "456789")])
        #expect(sent.last?.headers[.ifRange] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("A partial file from another URL is not resumed")
    func otherResource() async throws {
        let transport = ScriptedTransport([Self.cut(4), .status(200, headers: [.eTag: "\"v1\""], body: "abcdefghij")])
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target("a")) }
        _ = try await provider.request(target("b"))
        #expect(transport.sent.last?.headers[.range] == nil)
        #expect(folder.text(of: "done") == "abcdefghij")
    }

    @Test("A target's own Range or Accept-Encoding is left unchanged")
    func ownFields() async throws {
        let transport = ScriptedTransport([
            Self.cut(4), .status(206, headers: [.contentRange: "bytes 0-1/10"], body: "01"),
        ])
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target("a", headers: ["Accept-Encoding": "br"])) }
        _ = try await provider.request(target("a", headers: ["Range": "bytes=0-1", "If-Range": "\"v9\""]))
        #expect(transport.sent.first?.headers[.acceptEncoding] == "br")
        #expect(transport.sent.last?.headers[.range] == "bytes=0-1")
        #expect(transport.sent.last?.headers[.ifRange] == "\"v9\"")
        #expect(transport.sent.count == 2)
        #expect(folder.text(of: "done") == "01")
    }

    @Test("A download with a damaged record or a changed partial file is not resumed", arguments: ["{", "", nil])
    func damaged(_ record: String?) async throws {
        let transport = ScriptedTransport([Self.cut(4), .status(200, body: Self.text)])
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target) }
        if let record {
            try folder.write(record, to: "part.resume")
        } else {
            try folder.write(Self.text + "more", to: "part")
        }
        _ = try await provider.request(target)
        #expect(transport.sent.last?.headers[.range] == nil)
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("Two downloads never write one partial file: the second fails with file.busy")
    func busy() async throws {
        let feed = Feed()
        let transport = ScriptedTransport([
            .status(200, headers: [.eTag: "\"v1\""], body: .stream(feed, byteCount: 10)),
            .status(200, headers: [.eTag: "\"v1\""], body: "abcdefghij"),
        ])
        let provider = Provider<TestTarget>(transport: transport)
        let arrived = Feed()
        feed.send(5)
        let ended = Feed()
        provider.request(target, progress: { _ in arrived.finish() }, completion: { _ in ended.finish() })
        for try await _ in arrived {}
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .file(.busy))
        feed.send(5)
        feed.finish()
        for try await _ in ended {}
        #expect(folder.text(of: "done") == String(repeating: "\u{7}", count: 10))
        #expect(folder.names == ["done"])
    }

    @Test("F07 A partial file that is a symbolic link or a directory is refused")
    func notRegular() async throws {
        try folder.write("victim", to: "victim")
        let part = folder.file("part")
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: Self.cut(4)))
        try FileManager.default.createSymbolicLink(at: part, withDestinationURL: folder.file("victim"))
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .file(.notWritable))
        #expect(folder.text(of: "victim") == "victim")
        try FileManager.default.removeItem(at: part)
        try FileManager.default.createDirectory(at: part, withIntermediateDirectories: false)
        let other = await pipelineError { _ = try await provider.request(target) }
        #expect(other?.code == .file(.directory))
    }

    @Test("A 503 response leaves the partial file in place")
    func serverError() async throws {
        let sent = try await run([Self.cut(4), .status(503, body: "busy"), Self.rest(from: 4)], calls: 3)
        #expect(sent.map { $0.headers[.range] } == [nil, "bytes=4-", "bytes=4-"])
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("Progress of a resumed download includes the bytes of the partial file")
    func progress() async throws {
        let feed = Feed()
        let second = ScriptedTransport.Step.status(
            206,
            headers: [.contentRange: "bytes 4-9/10", .eTag: "\"v1\""],
            body: .stream(feed, byteCount: 6)
        )
        let provider = Provider<TestTarget>(transport: ScriptedTransport([Self.cut(4), second]))
        _ = await pipelineError { _ = try await provider.request(target) }
        let steps = try await RequestProgressTests.read(provider.requestWithProgress(target), feed, pieces: [3, 3])
        #expect(RequestProgressTests.values(steps) == [0.7, 0.999, 1])
        #expect(steps.map(\.received.byteCount) == [7, 10, 10])
    }
}
