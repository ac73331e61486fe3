import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Downloads: 206 Partial Content", .watched)
struct PartialContentTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func target(range: String? = nil, isResumable: Bool = false) -> TestTarget {
        var destination = DownloadDestination.file(folder.file("done"), options: .removePreviousFile)
        if isResumable { destination = destination.resumable(at: folder.file("part")) }
        return TestTarget(task: .downloadDestination(destination), headers: range.map { ["Range": $0] })
    }

    private static func part(_ range: String?, _ headers: HTTPFields = [:]) -> ScriptedTransport.Step {
        var headers = headers
        headers[.contentRange] = range
        return .status(206, headers: headers, body: "0123456789")
    }

    @Test(
        "F12 A 206 that was not requested fails the call and leaves the destination untouched",
        arguments: [true, false]
    )
    func unasked(isResumable: Bool) async throws {
        try folder.write("old", to: "done")
        let transport = ScriptedTransport([
            Self.part("bytes 0-9/100000", [.eTag: "\"v1\""]), .status(200, body: "whole"),
        ])
        let provider = Provider<TestTarget>(transport: transport)
        let target = target(isResumable: isResumable)
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .malformedResponse)
        #expect(error?.reason.contains("206") == true)
        #expect(error?.response?.statusCode == 206)
        #expect(error?.response?.body.isAbsent == true)
        #expect(error?.exchanges.count == 1)
        #expect(folder.text(of: "done") == "old")
        #expect(folder.names == ["done"])
        _ = try await provider.request(target)
        #expect(folder.text(of: "done") == "whole")
    }

    @Test("F12 A 206 after a refused resume fails the call, and the next call resumes")
    func afterRefusal() async throws {
        try folder.write("old", to: "done")
        let transport = ScriptedTransport([
            PartialDownloadTests.cut(4), PartialDownloadTests.rest(from: 4, tag: "\"v2\""),
            PartialDownloadTests.rest(from: 4), PartialDownloadTests.rest(from: 4),
        ])
        let provider = Provider<TestTarget>(transport: transport)
        let target = target(isResumable: true)
        _ = await pipelineError { _ = try await provider.request(target) }
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .malformedResponse)
        #expect(error?.exchanges.count == 2)
        #expect(transport.sent.map { $0.headers[.range] } == [nil, "bytes=4-", nil])
        #expect(folder.text(of: "done") == "old")
        _ = try await provider.request(target)
        #expect(transport.sent.last?.headers[.range] == "bytes=4-")
        #expect(folder.text(of: "done") == PartialDownloadTests.text)
    }

    @Test(
        "F12 A 206 for a target's own Range must have exactly the requested range",
        arguments: [
            ("bytes=5-14", "bytes 5-14/100", true), ("bytes=95-104", "bytes 95-99/100", true),
            ("bytes=5-14", "bytes 5-14/*", true), ("bytes=5-14", "bytes 5-13/100", false),
            ("bytes=5-14", "bytes 0-9/100", false), ("bytes=5-14", "bytes 5-24/100", false),
            ("bytes=5-14", nil, false), ("bytes=5-14", "items 5-14/100", false),
            ("bytes=90-", "bytes 90-99/100", true), ("bytes=90-", "bytes 90-99/*", true),
            ("bytes=90-", "bytes 90-98/100", false), ("bytes=90-", "bytes 91-99/100", false),
            ("bytes=-10", "bytes 90-99/100", true), ("bytes=-10", "bytes 0-4/5", true),
            ("bytes=-10", "bytes 0-9/100", false), ("bytes=-10", "bytes 91-99/100", false),
            ("bytes=-10", "bytes 0-9223372036854775807/*", false), ("bytes=0-9,20-29", nil, true),
            ("bytes=0-9,20-29", "bytes 0-29/100", true), ("items=0-9", "items 0-9/20", true),
            ("bytes=x", "bytes 0-9/100", false),
        ] as [(String, String?, Bool)]
    )
    func own(_ asked: String, _ given: String?, _ isAccepted: Bool) async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport([Self.part(given)]))
        let error = await pipelineError { _ = try await provider.request(target(range: asked)) }
        #expect(error?.code == (isAccepted ? nil : .malformedResponse))
        #expect(folder.text(of: "done") == (isAccepted ? "0123456789" : nil))
        #expect(folder.names == (isAccepted ? ["done"] : []))
    }

    @Test("F12 A 206 returned by a plugin fails the call too")
    func fromPlugin() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([]),
            plugins: [
                .intercept { request, _, _ in
                    PipelineResponse(request: request, statusCode: 206, data: Data("0123".utf8))
                }
            ]
        )
        let error = await pipelineError { _ = try await provider.request(target()) }
        #expect(error?.code == .malformedResponse)
        #expect(folder.names == [])
    }

    @Test(
        "F12 Outside downloads a 206 is returned like any other status, or refused if the target accepts only 200"
    )
    func inMemory() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: Self.part("bytes 0-9/100")))
        let response = try await provider.request(TestTarget())
        #expect(response.statusCode == 206)
        #expect(response.headers[.contentRange] == "bytes 0-9/100")
        #expect(try await provider.stream(TestTarget()).statusCode == 206)
        let error = await pipelineError {
            _ = try await provider.request(TestTarget(validationType: .customCodes([200])))
        }
        #expect(error?.code == .unacceptableStatus)
    }
}
