import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("StreamedResponse: values", .tags(.concurrent), .watched)
struct StreamedResponseValuesTests {
    private func answer(_ body: PipelineBody, type: String? = nil) async throws -> StreamedResponse {
        let headers: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        let transport = ScriptedTransport(always: .status(200, headers: headers, body: body))
        return try await Provider<TestTarget>(transport: transport).stream(TestTarget())
    }

    @Test("Lines are decoded as text, with invalid UTF-8 replaced")
    func lines() async throws {
        let bytes = Data("\u{feff}a\r\nb\rc\n\nd".utf8) + [0xff]
        var lines: [String] = []
        for try await line in try await answer(.bytes(bytes)).lines() { lines.append(line) }
        #expect(lines == ["a", "b", "c", "", "d\u{fffd}"])
    }

    @Test(
        "Events are read from a response with type text/event-stream, whatever its parameters",
        arguments: ["text/event-stream", "Text/Event-Stream; charset=utf-8", "text/event-stream;charset=latin1"]
    )
    func events(_ type: String) async throws {
        var data: [String] = []
        let body = PipelineBody.bytes(Data("data: é\n\ndata: 2\n\ndata: 3".utf8))
        for try await event in try await answer(body, type: type).serverSentEvents() { data.append(event.data) }
        #expect(data == ["é", "2"])
    }

    @Test(
        "Any other Content-Type fails with mapping.events, with the response but not its body",
        arguments: [nil, "text/plain", ""]
    )
    func otherType(_ type: String?) async throws {
        let feed = WatchedFeed(["data: 1\n\n"])
        let error = await pipelineError {
            for try await _ in try await answer(.stream(feed), type: type).serverSentEvents() {}
        }
        #expect(error?.code == .mapping(.events))
        #expect(error?.response?.statusCode == 200)
        #expect(error?.response?.body.isAbsent == true)
        #expect(feed.readCount == 0)
    }
}
