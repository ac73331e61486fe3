import Foundation
import Pipeline

/// Sends requests and prints what their timelines say, for `scripts/deep/timings`.
///
/// Each input line is a URL, sent as soon as it has been read. Its output line is a JSON object with times in
/// milliseconds.
@main
struct Timings {
    private struct Page: TargetType {
        let baseURL: URL
        var path: String { "" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var headers: [String: String]? { ["X-Client": "timings"] }
    }

    private struct Times: Codable {
        /// The wait for a connection.
        let connection: Double
        /// The time from the start of the exchange to the first byte of the response.
        let firstByte: Double
        /// The whole exchange.
        let total: Double
    }

    static func main() async throws {
        let provider = Provider<Page>(
            transport: AsyncHTTPClientTransport(),
            configuration: .init(timeline: true)
        )
        while let line = readLine() {
            guard let url = URL(string: line) else { throw URLError(.badURL) }
            let response = try await provider.request(Page(baseURL: url))
            try print(response.timeline?.spans ?? [])
        }
    }

    private static func print(_ spans: [Timeline.Span]) throws {
        func phase(_ name: String) -> Double {
            spans.filter { $0.kind == .phase && $0.name == name }.reduce(0) { $0 + $1.duration / .milliseconds(1) }
        }
        let wire = spans.filter { $0.kind == .wire }.reduce(0) { $0 + $1.duration / .milliseconds(1) }
        let connection = phase("connection")
        let times = Times(
            connection: connection,
            firstByte: connection + phase("send") + phase("wait"),
            total: wire
        )
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(times) + Data("\n".utf8))
    }
}
