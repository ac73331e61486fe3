import Foundation
import Pipeline
import TestSupport
import Testing

// Serialized, because httpbin's threads share one generator.
@Suite("httpbin: bytes from a seed", .besideHTTPBin, .realTime, .watched)
struct RandomBytesTests {
    private enum Random: HTTPBinTarget {
        case bytes(Int, seed: Int)
        case stream(Int, seed: Int, chunk: Int)

        var path: String {
            switch self {
            case .bytes(let count, _): "/bytes/\(count)"
            case .stream(let count, _, _): "/stream-bytes/\(count)"
            }
        }

        var task: RequestTask {
            var parameters: RequestParameters = [:]
            switch self {
            case .bytes(_, let seed): parameters = ["seed": seed]
            case .stream(_, let seed, let chunk): parameters = ["seed": seed, "chunk_size": chunk]
            }
            return .requestParameters(parameters: parameters, encoding: URLEncoding.queryString)
        }
    }

    private let provider = Provider<Random>()
    private let start = Data(base64Encoded: "pU3KGCUwux1tEyze1iN7Lg==")

    @Test(
        "bytes arrive unchanged, up to httpbin's limit of a hundred kibibytes",
        arguments: [
            (1, 1, 7, 0x00a6_00a6),
            (16, 16, 7, 0x3576_062e),
            (1000, 1000, 7, 0xd884_ec8a),
            (102400, 102400, 42, 0xaef5_550e),
            (200000, 102400, 42, 0xaef5_550e),
        ] as [(Int, Int, Int, UInt32)]
    )
    func bytes(asked: Int, sent: Int, seed: Int, checksum: UInt32) async throws {
        let response = try await provider.request(.bytes(asked, seed: seed))
        #expect(response.data.count == sent)
        #expect(adler32(response.data) == checksum)
        if sent >= 16, seed == 7 { #expect(response.data.prefix(16) == start) }
    }

    @Test("a stream has the same bytes, whatever its chunk size", arguments: [1, 7, 100, 1_000, 5_000])
    func streams(chunk: Int) async throws {
        var data = Data()
        for try await piece in try await provider.stream(.stream(1_000, seed: 7, chunk: chunk)).body {
            data.append(piece)
        }
        #expect(data.count == 1_000)
        #expect(adler32(data) == 0xd884_ec8a)
    }

    @Test("a body of unknown length that exceeds the limit fails, and the next call succeeds")
    func limit() async throws {
        let provider = Provider<Random>(
            configuration: .init(limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 50_000))
        )
        #expect(await provider.failure(.stream(102_400, seed: 7, chunk: 1_000))?.code == .limit(.bodyBytes))
        #expect(try await provider.request(.stream(50_000, seed: 7, chunk: 1_000)).data.count == 50_000)
    }

    @Test("a response of no bytes has an empty body")
    func none() async throws {
        let response = try await provider.request(.bytes(0, seed: 7))
        #expect(response.statusCode == 200)
        #expect(response.data.isEmpty)
    }
}
