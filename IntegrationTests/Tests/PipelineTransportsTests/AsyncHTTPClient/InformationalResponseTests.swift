import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport: informational responses", .tags(.concurrent), .realTime, .watched)
struct InformationalResponseTests {
    @Test("H11: the maximum number of informational responses can be set", arguments: [0, 3])
    func informationalCount(limit: Int) async throws {
        let configuration = AsyncHTTPClientTransport.makeDefaultConfiguration(informationalCount: limit)
        let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
        for (count, expected) in [
            (limit, FramingOutcome.answer(200, "hello")), (limit + 1, .failure(.limit(.informational))),
        ] {
            let text =
                String(repeating: hint, count: count) + AsyncHTTPClientExchangeHandlerTests.head
                + "Content-Length: 5\r\n\r\nhello"
            let bench = try FramingBench(AsyncHTTPClientTransport(configuration: configuration), [.send(text)])
            #expect(try await bench.outcome() == expected)
            if case .failure = expected { try await bench.server.wait { $0.openConnectionCount == 0 } }
            // They are counted per response.
            #expect(try await bench.outcome() == expected)
            try await bench.checkNextCall()
        }
    }
}
