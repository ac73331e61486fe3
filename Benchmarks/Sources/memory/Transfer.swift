import Foundation
import Pipeline

/// A way to transfer a large body, run with a given number of bytes.
struct Transfer: Sendable {
    struct Failure: Error {}

    let name: String
    /// Whether the memory must stay within the bound.
    ///
    /// Otherwise, the figure is only printed.
    var isJudged = true
    let run: @Sendable (Int) async throws -> Void

    /// Returns the transfers over a streaming transport without a network.
    static func all(_ files: Files) -> [Transfer] {
        [
            Transfer(name: "upload of a file") { try await send(.uploadFile(files.source($0)), $0) },
            Transfer(name: "form with the file as a part") {
                try await send(.uploadMultipartFormData(files.form($0)), $0)
            },
            Transfer(name: "download to a file") { byteCount in
                try await download(byteCount, to: files.destination) { _ = try await $0.request($1) }
            },
            Transfer(name: "download, watched") { byteCount in
                try await download(byteCount, to: files.destination) { provider, target in
                    for try await _ in provider.requestWithProgress(target) {}
                }
            },
        ] + GzipTransfer.all(files) + CacheTransfer.all(files)
    }

    private static func send(_ task: RequestTask, _ byteCount: Int) async throws {
        let sink = Sink(answerByteCount: 0)
        let response = try await Provider<Large>(transport: sink).request(Large(method: .post, task: task))
        guard let received = Int(try response.mapString()), received >= byteCount else { throw Failure() }
    }

    private static func download(
        _ byteCount: Int,
        to destination: URL,
        perform: (Provider<Large>, Large) async throws -> Void
    ) async throws {
        let task = RequestTask.downloadDestination(.file(destination, options: .removePreviousFile))
        let provider = Provider<Large>(transport: Sink(answerByteCount: byteCount))
        try await perform(provider, Large(method: .get, task: task))
        guard try Files.size(of: destination) == byteCount else { throw Failure() }
        try FileManager.default.removeItem(at: destination)
    }
}

/// A target for a large body.
struct Large: TargetType {
    let method: HTTPMethod
    let task: RequestTask
    var headers: [String: String]?
    var baseURL = URL(string: "https://transfer.example") ?? URL(filePath: "/")
    var path = ""
}

/// A transport that reads the request body piece by piece and responds with its length or with `answerByteCount` bytes.
struct Sink: Transport {
    let answerByteCount: Int
    let decodesContent = false

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        var byteCount = 0
        for try await chunk in request.body.chunks() { byteCount += chunk.count }
        guard answerByteCount > 0 else {
            return PipelineResponse(request: request, statusCode: 200, data: Data("\(byteCount)".utf8))
        }
        let count = answerByteCount
        let body = PipelineBody.stream(Zeros(byteCount: count), byteCount: count)
        return PipelineResponse(request: request, head: HTTPResponse(status: .ok), body: body)
    }
}

/// A given number of equal bytes, in pieces of 64 KiB.
struct Zeros: AsyncSequence {
    let byteCount: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: Int

        mutating func next() async -> Data? {
            guard rest > 0 else { return nil }
            let count = Swift.min(rest, 64 << 10)
            rest -= count
            return Data(repeating: 1, count: count)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: byteCount) }
}
