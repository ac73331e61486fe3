import AsyncHTTPClient
import Foundation
import HTTPTypes
import PipelineTransports

/// Measures requests with six header fields for 1 KiB over AsyncHTTPClient: directly, through the pipeline, and through
/// swift-openapi-runtime.
///
/// The peers are not part of this repository. The environment variable `PEERS` names the folder with their checkouts:
///
///     PEERS=FOLDER swift run -c release --package-path Benchmarks/Peers peers [--quick] [--json FILE]
@main
struct Peers {
    struct Report: Codable {
        var kind = "peers"
        var rows: [Row] = []
    }

    static let byteCount = 1 << 10
    /// The header fields of each request.
    ///
    /// With six plugins or middlewares, each of them sets one field.
    static let fields: [HTTPField] = (1...6).map { number in
        HTTPField(name: HTTPField.Name("X-Field-\(number)") ?? .cookie, value: "value number \(number) of a field")
    }

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let isQuick = arguments.contains("--quick")
        let server = try Nginx(bodyByteCounts: [byteCount])
        defer { server.stop() }
        let makeClient = {
            HTTPClient(
                eventLoopGroup: HTTPClient.defaultEventLoopGroup,
                configuration: PipelineTransports.AsyncHTTPClientTransport.makeDefaultConfiguration()
            )
        }
        let sides = directSides(makeClient()) + pipelineSides() + openAPISides(makeClient())
        let contest = Contest(name: "AsyncHTTPClient", sides: sides)
        var report = Report()
        for inFlight in [1, 16, 64] {
            let row = try await Row.measure(
                contest,
                inFlight: inFlight,
                bodyByteCount: byteCount,
                rounds: isQuick ? 1 : 31,
                slice: .milliseconds(isQuick ? 50 : 100)
            )
            print(row.table + "\n")
            report.rows.append(row)
        }
        if let index = arguments.firstIndex(of: "--json"), index + 1 < arguments.endIndex {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(report).write(to: URL(fileURLWithPath: arguments[index + 1]))
        }
    }
}
