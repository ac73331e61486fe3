import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: streams", .besideHTTPBin, .realTime, .watched)
struct StreamTests {
    private enum Feed: HTTPBinTarget {
        case lines(Int)
        case drip(byteCount: Int, seconds: Double, code: Int = 200)

        var path: String {
            switch self {
            case .lines(let count): "/stream/\(count)"
            case .drip: "/drip"
            }
        }

        var task: RequestTask {
            switch self {
            case .lines: .requestPlain
            case .drip(let byteCount, let seconds, let code):
                .requestParameters(
                    parameters: ["numbytes": byteCount, "duration": seconds, "code": code],
                    encoding: URLEncoding.queryString
                )
            }
        }
    }

    private struct Line: Decodable {
        let id: Int
        let url: String
    }

    private let provider = Provider<Feed>()
    private let foundation = Provider<Feed>(transport: URLSessionTransport())

    @Test("lines arrive complete and in order, at most a hundred of them", arguments: [(1, 1), (20, 20), (150, 100)])
    func lines(asked: Int, sent: Int) async throws {
        let streamed = try await provider.stream(.lines(asked))
        #expect(streamed.headers[.contentLength] == nil)
        var data = Data()
        for try await chunk in streamed.body { data.append(chunk) }
        let lines = try data.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Line.self, from: $0) }
        #expect(lines.map(\.id) == Array(0..<sent))
    }

    @Test("request returns a chunked response as one body")
    func buffered() async throws {
        let response = try await provider.request(.lines(3))
        #expect(response.data.split(separator: UInt8(ascii: "\n")).count == 3)
    }

    @Test("a stream is read as it arrives, and dropping it ends it")
    func dropped() async throws {
        let provider = Provider<Feed>(transport: .withOneConnection)
        let start = ContinuousClock.now
        let streamed = try await provider.stream(.drip(byteCount: 3, seconds: 60))
        #expect(streamed.headers[.contentLength] == "3")
        var received = Data()
        for try await chunk in streamed.body {
            received.append(chunk)
            break
        }
        #expect(received.first == UInt8(ascii: "*"))
        #expect(received.count < 3)
        // There is only one connection, so this waits as long as the stream is open.
        #expect(try await provider.request(.lines(1)).statusCode == 200)
        #expect(ContinuousClock.now - start < .seconds(40))
    }

    @Test("a slow body arrives in full, with any status", arguments: [200, 404, 503])
    func drip(code: Int) async throws {
        let response = try await provider.request(.drip(byteCount: 20, seconds: 0.2, code: code))
        #expect(response.statusCode == code)
        #expect(response.data == Data(repeating: UInt8(ascii: "*"), count: 20))
    }

    #if canImport(FoundationNetworking)
    // Foundation on Linux holds back the body of a redirect, and drops it without a Location to follow.
    @Test("URLSession on Linux: a redirect with a body and without a Location fails with truncated")
    func redirectWithoutLocation() async throws {
        let error = try #require(await foundation.failure(.drip(byteCount: 4, seconds: 0.1, code: 302)))
        #expect(error.code == .truncated)
        #expect(try await foundation.request(.lines(1)).statusCode == 200)
    }
    #endif

    @Test("a stream can be read only once")
    func once() async throws {
        let streamed = try await provider.stream(.lines(2))
        _ = try await streamed.response.body.collect(upTo: 1 << 20)
        let error = await #expect(throws: PipelineError.self) {
            try await streamed.response.body.collect(upTo: 1 << 20)
        }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("a body over the limit fails, and the next call succeeds")
    func limit() async throws {
        let provider = Provider<Feed>(
            configuration: .init(limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 1_000))
        )
        #expect(await provider.failure(.lines(100))?.code == .limit(.bodyBytes))
        #expect(await provider.failure(.drip(byteCount: 1_001, seconds: 30))?.code == .limit(.bodyBytes))
        #expect(try await provider.request(.lines(1)).statusCode == 200)
    }
}
