import Foundation
import HTTPTypes

@testable import PipelineRecording

/// Exchanges and entries for tests.
enum Sample {
    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    static func exchange(
        _ method: String = "GET",
        _ url: String = "https://h.example/a",
        status: Int = 200,
        body: String = "{}",
        after seconds: Double = 0,
        _ change: (inout RecordedExchange) -> Void = { _ in }
    ) -> RecordedExchange {
        var exchange = RecordedExchange(
            request: .init(method: method, url: url),
            response: .init(
                status: status,
                headers: [.contentType: "application/json; charset=utf-8"],
                body: Data(body.utf8)
            ),
            start: start.addingTimeInterval(seconds),
            headDelay: .milliseconds(20),
            duration: .milliseconds(100),
            httpVersion: "HTTP/1.1"
        )
        change(&exchange)
        return exchange
    }

    static func entries(_ exchanges: RecordedExchange...) -> [RecordedEntry] {
        exchanges.enumerated().map { RecordedEntry(index: $0.offset, result: .success($0.element)) }
    }

    /// An entry that cannot be read.
    static func unreadable(_ index: Int, _ text: String = "no URL") -> RecordedEntry {
        RecordedEntry(index: index, result: .failure(Unreadable(description: text)))
    }

    private struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }
}
