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

/// Edge cases of resuming a download.
extension PartialDownloadTests {
    @Test(
        "F08 A 206 with another end or total length restarts the download, even if its body fits the range",
        arguments: [("bytes 4-8/10", "45678"), ("bytes 4-10/11", "4567890"), ("bytes 4-8/9", "45678")]
    )
    func otherEnd(_ range: String, _ body: String) async throws {
        let whole = ScriptedTransport.Step.status(200, headers: [.eTag: "\"v1\""], body: Self.text)
        let sent = try await run([Self.cut(4), Self.rest(from: 4, range: range, body: body), whole])
        #expect(sent.count == 3)
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("F08 A partial file that changes while the rest is requested restarts the download", arguments: ["", "01"])
    func changedPart(_ part: String) async throws {
        let folder = folder
        let transport = ScriptedTransport { _, index in
            switch index {
            case 0: return Self.cut(4)
            case 1:
                try? folder.write(part, to: "part")
                return Self.rest(from: 4)
            default: return .status(200, body: "abcdefghij")
            }
        }
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target) }
        _ = try await provider.request(target)
        #expect(transport.sent.map { $0.headers[.range] } == [nil, "bytes=4-", nil])
        #expect(folder.text(of: "done") == "abcdefghij")
    }

    @Test("Rule 15 Bytes already in the partial file count towards the limit", arguments: [9, 10])
    func limit(_ byteCount: Int) async throws {
        let transport = ScriptedTransport([Self.cut(4), Self.rest(from: 4)])
        let limits = ProviderConfiguration.Limits(downloadByteCount: byteCount)
        let provider = Provider<TestTarget>(transport: transport, configuration: .init(limits: limits))
        _ = await pipelineError { _ = try await provider.request(target) }
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == (byteCount == 10 ? nil : .limit(.bodyBytes)))
        #expect(folder.text(of: "done") == (byteCount == 10 ? Self.text : nil))
    }

    @Test("A part from another server or scheme is not resumed", arguments: ["https://example.com", "http://a.com"])
    func otherServer(_ base: String) async throws {
        let transport = ScriptedTransport([Self.cut(4), .status(200, headers: [.eTag: "\"v1\""], body: "abcdefghij")])
        let provider = Provider<TestTarget>(transport: transport)
        var (first, second) = (target, target)
        (first.base, second.base) = ("https://a.com", base)
        _ = await pipelineError { _ = try await provider.request(first) }
        _ = try await provider.request(second)
        #expect(transport.sent.map { $0.headers[.range] } == [nil, nil])
        #expect(folder.text(of: "done") == "abcdefghij")
    }

    @Test("The response to a target's own Range is not appended to the partial file")
    func ownRange() async throws {
        let transport = ScriptedTransport([Self.cut(4), Self.rest(from: 4)])
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target) }
        _ = try await provider.request(target("a", headers: ["Range": "bytes=4-"]))
        #expect(transport.sent.last?.headers[.ifRange] == nil)
        #expect(folder.text(of: "done") == "456789")
    }

    @Test("An interrupted response to a target's own Range leaves no partial file")
    func ownRangeCut() async throws {
        let chunks = Self.broken(after: "45")
        let headers: HTTPFields = [.contentRange: "bytes 4-9/10", .eTag: "\"v1\""]
        let transport = ScriptedTransport([.status(206, headers: headers, body: .stream(chunks, byteCount: 6))])
        let provider = Provider<TestTarget>(transport: transport)
        let ranged = target("a", headers: ["Range": "bytes=4-"])
        let error = await pipelineError { _ = try await provider.request(ranged) }
        #expect(error?.code == .connectionLost)
        #expect(folder.names == [])
    }

    @Test(
        "A partial file that has its full length, or whose record is too long, is not resumed",
        arguments: [true, false]
    )
    func oddPart(_ isWhole: Bool) async throws {
        let transport = ScriptedTransport([Self.cut(4), .status(200, body: "abcdefghij")])
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target) }
        if isWhole {
            try folder.write(Self.text, to: "part")
        } else {
            let record = try #require(folder.text(of: "part.resume"))
            try folder.write(record + String(repeating: " ", count: 4096), to: "part.resume")
        }
        _ = try await provider.request(target)
        #expect(transport.sent.last?.headers[.range] == nil)
        #expect(folder.text(of: "done") == "abcdefghij")
    }

    @Test("F07 A partial file that is a pipe is refused without blocking")
    func pipe() async throws {
        #expect(mkfifo(folder.file("part").path, 0o600) == 0)
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: Self.cut(4)))
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .file(.notWritable))
        #expect(error?.reason.contains("regular") == true)
    }

    @Test(
        "T10 Range is added after the prepare stages, and a newly signed URL still resumes the download"
    )
    func signed() async throws {
        let transport = ScriptedTransport([Self.cut(4), Self.rest(from: 4)])
        let journal = Journal()
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .prepare { request, context in
                    journal.add("prepare \(request.headers[.range] ?? "-") \(request.headers[.acceptEncoding] ?? "-")")
                    request.head.path? += "?signature=\(context.callID)"
                },
                .willSend { request, _ in journal.add("willSend \(request.headers[.range] ?? "-")") },
            ]
        )
        _ = await pipelineError { _ = try await provider.request(target) }
        _ = try await provider.request(target)
        #expect(
            journal.entries == ["prepare - identity", "willSend -", "prepare - identity", "willSend bytes=4-"]
        )
        #expect(Set(transport.sent.map { $0.head.path ?? "" }).count == 2)
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("A Range set by a plugin is kept, and its response is not appended to the partial file")
    func rangeOfPlugin() async throws {
        let transport = ScriptedTransport([Self.cut(4), Self.rest(from: 6, range: "bytes 6-7/10", body: "67")])
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .prepare { request, context in
                    if context.callID == 2 { request.headers[.range] = "bytes=6-7" }
                }
            ]
        )
        _ = await pipelineError { _ = try await provider.request(target) }
        _ = try await provider.request(target)
        #expect(transport.sent.map { $0.headers[.range] } == [nil, "bytes=6-7"])
        #expect(transport.sent.last?.headers[.ifRange] == nil)
        #expect(folder.text(of: "done") == "67")
    }

    @Test("F12 A rest of unknown length that ends early fails with truncated, and the next call resumes")
    func shortRest() async throws {
        let headers: HTTPFields = [.contentRange: "bytes 4-9/10", .eTag: "\"v1\""]
        let short = ScriptedTransport.Step.status(206, headers: headers, body: Self.chunked("45"))
        let transport = ScriptedTransport([Self.cut(4), short, Self.rest(from: 6)])
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target) }
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .truncated)
        #expect(folder.text(of: "done") == nil)
        _ = try await provider.request(target)
        #expect(transport.sent.last?.headers[.range] == "bytes=6-")
        #expect(folder.text(of: "done") == Self.text)
    }

    @Test("F12 A rest of unknown length that exceeds its range fails, and the next call starts over")
    func longRest() async throws {
        let headers: HTTPFields = [.contentRange: "bytes 4-9/10", .eTag: "\"v1\""]
        let long = ScriptedTransport.Step.status(206, headers: headers, body: Self.chunked("456789!"))
        let transport = ScriptedTransport([Self.cut(4), long, .status(200, body: Self.text)])
        let provider = Provider<TestTarget>(transport: transport)
        _ = await pipelineError { _ = try await provider.request(target) }
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .malformedResponse)
        #expect(folder.text(of: "done") == nil)
        _ = try await provider.request(target)
        #expect(transport.sent.last?.headers[.range] == nil)
        #expect(folder.text(of: "done") == Self.text)
    }

    /// A body of unknown length.
    private static func chunked(_ text: String) -> PipelineBody {
        .stream(AsyncStream(unfolding: once(Data(text.utf8))))
    }
}
