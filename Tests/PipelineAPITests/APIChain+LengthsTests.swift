import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Chains of many requests", .watched)
struct APIChainLengthsTests {
    private struct Item: Decodable, Sendable { var id = 0 }

    private func item(_ id: Int) -> APIRequest<Item> { APIRequest<Item>("items", "\(id)") }

    private var bench: APIBench { APIBench(ScriptedTransport(always: .status(200, body: #"{"id": 7}"#))) }

    @Test("C87 A chain of five requests compiles with a single-expression handler, as documented")
    func fiveWithHandler() async {
        let (ids, continuation) = AsyncStream.makeStream(of: [Int].self)
        bench.api.call(item(1).and(item(2)).and(item(3)).and(item(4)).and(item(5)))
            .onError { _ in continuation.finish() }
            .onSuccess { first, second, third, fourth, fifth in
                continuation.yield([first.id, second.id, third.id, fourth.id, fifth.id])
            }
            .execute()
        for await values in ids {
            #expect(values == [7, 7, 7, 7, 7])
            break
        }
    }

    /// Receives the values of a chain, as `print` does.
    private struct Printer: Sendable {
        let lines: AsyncStream<String>.Continuation

        func print(_ items: Any..., separator: String = " ") {
            lines.yield(items.map { "\($0)" }.joined(separator: separator))
        }
    }

    private func printSum(ofSix api: APIClient, _ printer: Printer) {
        api.call(item(1).and(item(2)).and(item(3)).and(item(4)).and(item(5)).and(item(6)))
            .onError { printer.print($0) }
            .onSuccess { a, b, c, d, e, f in
                printer.print(a.id + b.id + c.id + d.id + e.id + f.id)
            }
            .execute()
    }

    private func printSum(ofTwelve api: APIClient, _ printer: Printer) {
        api.call(
            item(1).and(item(2)).and(item(3)).and(item(4)).and(item(5)).and(item(6)).and(item(7)).and(item(8))
                .and(item(9)).and(item(10)).and(item(11)).and(item(12))
        )
        .onError { printer.print($0) }
        .onSuccess { a, b, c, d, e, f, g, h, i, j, k, l in
            printer.print(a.id + b.id + c.id + d.id + e.id + f.id + g.id + h.id + i.id + j.id + k.id + l.id)
        }
        .execute()
    }

    @Test("M04 Chains of six and twelve requests compile with a handler that prints the sum of all values")
    func sums() async {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        var line = lines.makeAsyncIterator()
        printSum(ofSix: bench.api, Printer(lines: continuation))
        #expect(await line.next() == "42")
        printSum(ofTwelve: bench.api, Printer(lines: continuation))
        #expect(await line.next() == "84")
    }

    @Test("C87 A chain of twelve requests returns its values in order, as one tuple")
    func long() async throws {
        let bench = bench
        let chain = item(1).and(item(2)).and(item(3)).and(item(4)).and(item(5)).and(item(6)).and(item(7)).and(item(8))
            .and(item(9)).and(item(10)).and(item(11)).and(APIRequest<IgnoredBody>("last"))
        let values = try await bench.api.send(chain)
        #expect(values.0.id == 7 && values.10.id == 7 && values.11 == IgnoredBody())
        #expect(bench.paths == (1...11).map { "items/\($0)" } + ["last"])
    }
}
