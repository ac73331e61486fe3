import Foundation
import HTTPTypes
import Pipeline

/// A way for a large body to pass; runs with so many bytes.
struct Transfer: Sendable {
    struct Failure: Error {}

    let name: String
    let run: @Sendable (Int) async throws -> Void

    static func all(_ source: URL, _ folder: URL) -> [Transfer] {
        [
            Transfer(name: "upload of a file") { _ in
                try await send(.post, .uploadFile(source), expecting: try size(of: source))
            },
            Transfer(name: "form with the file as a part") { _ in
                let form: MultipartFormData = [
                    MultipartFormBodyPart(.bytes(Data("a caption".utf8)), name: "caption"),
                    MultipartFormBodyPart(.file(source), name: "video", fileName: "video.mp4"),
                ]
                try await send(.post, .uploadMultipartFormData(form), expecting: try size(of: source))
            },
            Transfer(name: "download to a file") { byteCount in
                let destination = folder.appending(path: "received")
                let task = RequestTask.downloadDestination(.file(destination, options: .removePreviousFile))
                let provider = Provider<Large>(transport: Sink(answerByteCount: byteCount))
                _ = try await provider.request(Large(method: .get, task: task))
                guard try size(of: destination) == byteCount else { throw Failure() }
                try FileManager.default.removeItem(at: destination)
            },
            Transfer(name: "download, watched") { byteCount in
                let destination = folder.appending(path: "received")
                let task = RequestTask.downloadDestination(.file(destination, options: .removePreviousFile))
                let provider = Provider<Large>(transport: Sink(answerByteCount: byteCount))
                for try await _ in provider.requestWithProgress(Large(method: .get, task: task)) {}
                guard try size(of: destination) == byteCount else { throw Failure() }
                try FileManager.default.removeItem(at: destination)
            },
        ] + GzipTransfer.all(source)
    }

    private static func send(_ method: HTTPMethod, _ task: RequestTask, expecting byteCount: Int) async throws {
        let sink = Sink(answerByteCount: 0)
        let response = try await Provider<Large>(transport: sink).request(Large(method: method, task: task))
        guard let received = Int(try response.mapString()), received >= byteCount else { throw Failure() }
    }

    private static func size(of url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }
}

/// A target that is nothing but its task.
struct Large: TargetType {
    let method: HTTPMethod
    let task: RequestTask
    var headers: [String: String]?

    var baseURL: URL { URL(string: "https://transfer.example") ?? URL(filePath: "/") }
    var path: String { "" }
}

/// Reads the body that it is sent piece by piece and says how long it was, or answers with so many bytes.
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

/// So many bytes of nothing, in pieces of 64 KiB.
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
