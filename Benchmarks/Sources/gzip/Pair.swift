import CZlibDirect
import Foundation
import Pipeline

/// The same work, done by the plugin and by zlib.
struct Pair: Sendable {
    let name: String
    let byteCount: Int
    let plugin: @Sendable () async throws -> Void
    let direct: @Sendable () throws -> Void

    private static let level: Int32 = 6
    private static let piece = 64 << 10

    static func all(of json: Data) throws -> [Pair] {
        let coded = try gzip(json)
        return [
            decodeInMemory(json, coded), decodeStream(json, coded), encodeInMemory(json, coded), encodeStream(json),
        ]
    }

    private static func decodeInMemory(_ json: Data, _ coded: Data) -> Pair {
        let provider = provider(answering: .bytes(coded))
        return Pair(name: "decode, in memory", byteCount: json.count) {
            try require(try await provider.request(Exchange(method: .get)).data.count == json.count)
        } direct: {
            try require(coded.withBytes { direct_inflate($0, $1, json.count) } == json.count)
        }
    }

    private static func decodeStream(_ json: Data, _ coded: Data) -> Pair {
        let provider = provider(answering: .stream(replaying: { Slices(data: coded, byteCount: piece) }))
        return Pair(name: "decode, streamed by 64 KiB", byteCount: json.count) {
            var count = 0
            for try await piece in try await provider.stream(Exchange(method: .get)).body { count += piece.count }
            try require(count == json.count)
        } direct: {
            try require(coded.withBytes { direct_inflate_pieces($0, $1, piece) } == json.count)
        }
    }

    private static func encodeInMemory(_ json: Data, _ coded: Data) -> Pair {
        let provider = provider(answering: .absent)
        return Pair(name: "compress, in memory", byteCount: json.count) {
            let response = try await provider.request(Exchange(method: .post, task: .requestData(json)))
            try require(response.request.body.byteCount == coded.count)
        } direct: {
            try require(json.withBytes { direct_deflate($0, $1, level) } == coded.count)
        }
    }

    private static func encodeStream(_ json: Data) -> Pair {
        let provider = provider(answering: .absent)
        let expected = json.withBytes { direct_deflate_pieces($0, $1, piece, level) }
        return Pair(name: "compress, streamed by 64 KiB", byteCount: json.count) {
            let body = PipelineBody.stream(Slices(data: json, byteCount: piece))
            let target = Exchange(method: .post, task: .requestStream(body))
            try require(try await provider.request(target).headers[.age] == "\(expected)")
        } direct: {
            try require(json.withBytes { direct_deflate_pieces($0, $1, piece, level) } == expected)
        }
    }

    private static func provider(answering body: PipelineBody) -> Provider<Exchange> {
        Provider(transport: Answer(body: body), plugins: [GzipPlugin(requestCompression: .always, level: Int(level))])
    }

    private static func gzip(_ data: Data) throws -> Data {
        var output = Data(count: data.count)
        let count = output.withUnsafeMutableBytes { room in
            data.withBytes { direct_gzip($0, $1, level, room.bindMemory(to: UInt8.self).baseAddress, room.count) }
        }
        try require(count > 0)
        return output.prefix(count)
    }

    private static func require(_ condition: Bool) throws {
        guard condition else { throw Gzip.Failure() }
    }
}

extension Data {
    func withBytes<Value>(_ body: (UnsafePointer<UInt8>?, Int) -> Value) -> Value {
        withUnsafeBytes { body($0.bindMemory(to: UInt8.self).baseAddress, $0.count) }
    }
}

/// A target with nothing but a method and a task.
struct Exchange: TargetType {
    let method: HTTPMethod
    var task: RequestTask = .requestPlain

    var baseURL: URL { URL(string: "https://gzip.example") ?? URL(filePath: "/") }
    var path: String { "" }
    var headers: [String: String]? { ["Content-Type": "application/json"] }
}

/// A transport that reads the request body if it is a stream, and responds with the gzip body if there is one.
struct Answer: Transport {
    let body: PipelineBody
    let decodesContent = false

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        var fields = HTTPFields()
        if request.body.bytes == nil {
            var count = 0
            for try await chunk in request.body.chunks() { count += chunk.count }
            fields[.age] = "\(count)"
        }
        if !body.isAbsent { fields[.contentEncoding] = "gzip" }
        return PipelineResponse(request: request, head: HTTPResponse(status: .ok, headerFields: fields), body: body)
    }
}

/// Bytes in slices of equal length.
struct Slices: AsyncSequence, Sendable {
    let data: Data
    let byteCount: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: Data
        let byteCount: Int

        mutating func next() async -> Data? {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(byteCount) }
            return rest.prefix(byteCount)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: data, byteCount: byteCount) }
}
