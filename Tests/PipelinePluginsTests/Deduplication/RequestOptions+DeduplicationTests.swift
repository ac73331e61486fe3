import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("DeduplicationPlugin: call option", .tags(.concurrent), .watched)
struct RequestOptionsDeduplicationTests {
    private typealias Bench = DeduplicationBench

    @Test(
        "D05 (nodejs/undici#4817): safe methods share unless opted out; others only when opted in",
        arguments: [
            ("GET", nil, true), ("HEAD", nil, true), ("OPTIONS", nil, true), ("QUERY", nil, true),
            ("TRACE", nil, false), ("POST", nil, false), ("PUT", nil, false), ("PATCH", nil, false),
            ("DELETE", nil, false), ("LOCK", nil, false), ("get", nil, false), ("GET", .off, false),
            ("POST", .on, true),
            ("POST", .off, false), ("PATCH", .on, true),
        ] as [(String, DeduplicationPlugin.Participation?, Bool)]
    )
    func methods(method: String, choice: DeduplicationPlugin.Participation?, isShared: Bool) async throws {
        let bench = Bench()
        let ask = Ask(method: try #require(HTTPRequest.Method(rawValue: method)), task: .requestData(Data("q".utf8)))
        let options = RequestOptions { $0.deduplication = choice }
        let calls = [await bench.begin(ask, options), await bench.begin(ask, options)]
        await bench.answer(isShared ? 1 : 2)
        #expect(await calls.results.map(\.text) == ["answer 0", isShared ? "answer 0" : "answer 1"])
    }

    @Test("Moya#2164: opted-in POSTs share only if their bodies are equal")
    func posts() async {
        let bench = Bench(DeduplicationPlugin(methods: [.post]))
        var calls: [Bench.Call] = []
        for text in ["a", "b", "a"] {
            calls.append(await bench.begin(Ask(method: .post, task: .requestData(Data(text.utf8)))))
        }
        for _ in 0..<2 { calls.append(await bench.begin(Ask())) }
        await bench.answer(4)
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 1", "answer 0", "answer 2", "answer 3"])
    }
}
