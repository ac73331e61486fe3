import CZlibDirect
import Foundation
import Pipeline

/// The transfers of bodies that are compressed or decoded.
enum GzipTransfer {
    static func all(_ files: Files) -> [Transfer] {
        [
            Transfer(name: "upload of a file, compressed") { byteCount in
                let gzip = GzipPlugin(requestCompression: .always, level: 1)
                let provider = Provider<Large>(transport: Sink(answerByteCount: 0), plugins: [gzip])
                let task = RequestTask.requestStream(.file(files.source(byteCount)))
                _ = try await provider.request(
                    Large(method: .post, task: task, headers: ["Content-Type": "text/plain"])
                )
            },
            Transfer(name: "stream, decoded") { byteCount in
                let plugin = GzipPlugin(limits: .init(ratio: 2_000))
                var count = 0
                let provider = Provider<Large>(transport: Bomb(isStream: true), plugins: [plugin])
                for try await piece in try await provider.stream(Large(method: .get, task: .requestPlain)).body {
                    count += piece.count
                    if count >= byteCount { break }
                }
                guard count >= byteCount else { throw Transfer.Failure() }
            },
            Transfer(name: "bomb of 1 GiB in memory, refused") { _ in
                let provider = Provider<Large>(transport: Bomb(isStream: false), plugins: [GzipPlugin()])
                do {
                    _ = try await provider.request(Large(method: .get, task: .requestPlain))
                    throw Transfer.Failure()
                } catch let error as PipelineError where error.code == .limit(.decodedBytes) {}
            },
        ]
    }
}

/// A transport that responds with zeros in gzip: about 1 MB for 1 GiB, or a stream without an end.
struct Bomb: Transport {
    let isStream: Bool
    let decodesContent = false

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let head = HTTPResponse(status: .ok, headerFields: [.contentEncoding: "gzip"])
        let body: PipelineBody =
            isStream ? .stream(Blocks()) : .bytes((0..<1_024).reduce(Blocks.head) { all, _ in all + Blocks.block })
        return PipelineResponse(request: request, head: head, body: body)
    }
}

/// A gzip header, followed by blocks that each decode to 1 MiB.
struct Blocks: AsyncSequence {
    static let head = Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
    static let block: Data = {
        var output = Data(count: 4_096)
        let count = output.withUnsafeMutableBytes { room in
            direct_block_of_zeros(1 << 20, room.bindMemory(to: UInt8.self).baseAddress, room.count)
        }
        return output.prefix(count)
    }()

    struct AsyncIterator: AsyncIteratorProtocol {
        var hasBegun = false

        mutating func next() async -> Data? {
            defer { hasBegun = true }
            return hasBegun ? Blocks.block : Blocks.head
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
}
