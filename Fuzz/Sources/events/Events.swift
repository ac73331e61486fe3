import Foundation
import Pipeline

#if FUZZER
import FuzzSupport
#endif

/// Fuzzes the parser of events, or the lines and the JSON lines of a streamed response.
///
/// The first byte selects one of the two. The limit, the lengths of the pieces, and the bytes follow.
///
/// Reading in pieces and all at once must give the same values, followed by the same error or none.
#if FUZZER
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzEvents(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let readsEvents = input.number(below: 2) == 0
    let limit = 1 + input.number(below: 64) * 8
    let lengths = input.bytes(upTo: 16).map { Int($0) % 16 + 1 }
    let data = Data(input.remainder())
    let pieces = cut(data, lengths)
    if readsEvents {
        require(
            events(in: [data], limit) == events(in: pieces, limit),
            "reading in pieces and at once gives different events"
        )
        return 0
    }
    runToEnd { await check(data, pieces, limit) }
    return 0
}

private func check(_ data: Data, _ pieces: [Data], _ limit: Int) async {
    let whole = await lines(in: [data], limit)
    let piecewise = await lines(in: pieces, limit)
    require(whole == piecewise, "reading in pieces and at once gives different lines")
}

/// Cuts the data into pieces of these lengths, which repeat.
private func cut(_ data: Data, _ lengths: [Int]) -> [Data] {
    var pieces: [Data] = []
    var rest = data
    while !rest.isEmpty {
        let piece = rest.prefix(lengths.isEmpty ? 1 : lengths[pieces.count % lengths.count])
        rest = rest.dropFirst(piece.count)
        pieces.append(piece)
    }
    return pieces
}

private struct EventOutcome: Equatable {
    var events: [ServerSentEvent] = []
    var lastEventID = ""
    var reconnectionTime: Duration?
    var code: PipelineError.Code?
}

private func events(in pieces: [Data], _ limit: Int) -> EventOutcome {
    var parser = ServerSentEvent.Parser(maximumByteCount: limit)
    var outcome = EventOutcome()
    for piece in pieces {
        parser.append(piece)
        do {
            while let event = try parser.next() {
                // A byte of invalid UTF-8 becomes three bytes.
                require(
                    event.data.utf8.count <= limit * 3,
                    "an event has \(event.data.utf8.count) bytes, more than the limit \(limit) allows"
                )
                require(!event.type.isEmpty, "an event has an empty type")
                require(
                    event.id.utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 9 },
                    "an event ID contains a control character"
                )
                outcome.events.append(event)
            }
        } catch let error as PipelineError {
            require(
                [.limit(.lineBytes), .limit(.eventBytes)].contains(error.code),
                "unexpected error code: \(error)"
            )
            outcome.code = error.code
        } catch {
            require(false, "expected a PipelineError: \(error)")
        }
    }
    outcome.lastEventID = parser.lastEventID
    outcome.reconnectionTime = parser.reconnectionTime
    require(outcome.reconnectionTime.map { $0 >= .zero } ?? true, "the reconnection time is negative")
    return outcome
}

private struct LineOutcome: Equatable {
    var lines: [String] = []
    var numbers: [Double] = []
    var codes: [PipelineError.Code] = []
    var reasons: [String] = []

    mutating func note(_ error: any Error) {
        guard let error = error as? PipelineError else { return require(false, "expected a PipelineError: \(error)") }
        require([.limit(.lineBytes), .mapping(.object)].contains(error.code), "unexpected error code: \(error)")
        codes.append(error.code)
        reasons.append(error.reason)
    }
}

private func lines(in pieces: [Data], _ limit: Int) async -> LineOutcome {
    var outcome = LineOutcome()
    let provider = Provider<Nothing>(transport: Answer(pieces: pieces))
    do {
        for try await line in try await provider.stream(Nothing()).lines(maximumByteCount: limit) {
            require(
                line.utf8.count <= limit * 3 && !line.utf8.contains(10),
                "a line is longer than allowed or contains a line feed"
            )
            outcome.lines.append(line)
        }
    } catch {
        outcome.note(error)
    }
    do {
        let answer = try await provider.stream(Nothing())
        for try await number in answer.jsonLines(as: Double.self, maximumByteCount: limit) {
            outcome.numbers.append(number)
        }
    } catch {
        outcome.note(error)
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
    let pieces: [Data]
    let decodesContent = false

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let chunks = AsyncStream<Data> { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
        return PipelineResponse(request: request, head: HTTPResponse(status: .ok), body: .stream(chunks))
    }
}
