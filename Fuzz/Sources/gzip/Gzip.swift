import Foundation
import Pipeline

#if FUZZER
import FuzzSupport
#endif

/// Fuzzes the decoding of bodies.
///
/// The first byte selects the coding. The lengths of the pieces and the encoded body follow.
///
/// Decoding in pieces and from memory must give the same bytes, no more than allowed, or the same typed error.
#if FUZZER
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzGzip(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let coding = ["gzip", "deflate", "gzip, gzip", "deflate, gzip"][input.number(below: 4)]
    let lengths = input.bytes(upTo: 16).map { max(Int($0), 1) }
    let body = Data(input.remainder())
    runToEnd { await check(coding, body, lengths) }
    return 0
}

private func check(_ coding: String, _ body: Data, _ lengths: [Int]) async {
    let whole = await outcome(coding, .bytes(body), isStream: false)
    let pieces = await outcome(coding, .stream(Pieces(data: body, lengths: lengths)), isStream: true)
    compare(whole, pieces, isNested: coding.contains(","))
}

private let byteLimit = 1 << 18
private let ratio = 100

private struct Outcome {
    var data = Data()
    var code: PipelineError.Code?
}

private func compare(_ whole: Outcome, _ pieces: Outcome, isNested: Bool) {
    require(whole.data.count <= byteLimit, "decoded \(whole.data.count) bytes, but the limit is \(byteLimit)")
    // The pieces determine when the limits are checked.
    guard whole.code != .limit(.decodedBytes), pieces.code != .limit(.decodedBytes) else { return }
    // If two nested codings are both damaged, the pieces also determine which error is found first.
    require(
        whole.code == pieces.code || (whole.code != nil && pieces.code != nil && isNested),
        "error in memory: \(String(describing: whole.code)), error in pieces: \(String(describing: pieces.code))"
    )
    require(whole.code != nil || whole.data == pieces.data, "decoding in pieces and in memory gives different bytes")
}

private func outcome(_ coding: String, _ body: PipelineBody, isStream: Bool) async -> Outcome {
    let plugin = GzipPlugin(limits: .init(decodedByteCount: byteLimit, ratio: ratio, ratioFreeByteCount: 1 << 16))
    let provider = Provider<Nothing>(transport: Answer(coding: coding, body: body), plugins: [plugin])
    var outcome = Outcome()
    do {
        if isStream {
            for try await piece in try await provider.stream(Nothing()).body {
                require((1...(64 << 10)).contains(piece.count), "a piece has \(piece.count) bytes, not 1 to 65,536")
                outcome.data += piece
            }
        } else {
            outcome.data = try await provider.request(Nothing()).data
        }
    } catch let error as PipelineError {
        let codes: [PipelineError.Code] = [
            .contentCoding(.truncated), .contentCoding(.corrupt), .contentCoding(.trailing), .limit(.decodedBytes),
        ]
        require(codes.contains(error.code), "unexpected error code: \(error)")
        outcome.code = error.code
    } catch {
        require(false, "expected a PipelineError: \(error)")
    }
    return outcome
}

private struct Nothing: TargetType {
    var baseURL: URL { URL(string: "https://h") ?? URL(filePath: "/") }
    var path: String { "" }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}

private struct Answer: Transport {
    let coding: String
    let body: PipelineBody
    let decodesContent = false

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let head = HTTPResponse(status: .ok, headerFields: [.contentEncoding: coding])
        return PipelineResponse(request: request, head: head, body: body)
    }
}

/// Bytes in pieces of these lengths, which repeat.
private struct Pieces: AsyncSequence {
    let data: Data
    let lengths: [Int]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: Data
        let lengths: [Int]
        var number = 0

        mutating func next() async -> Data? {
            guard !rest.isEmpty else { return nil }
            let length = lengths.isEmpty ? rest.count : lengths[number % lengths.count]
            number += 1
            defer { rest = rest.dropFirst(length) }
            return rest.prefix(length)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: data, lengths: lengths) }
}
