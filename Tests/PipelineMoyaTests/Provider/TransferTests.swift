import Foundation
import PipelineMoya
import PipelineTesting
import Synchronization
import TestSupport
import Testing

import struct PipelineCore.PipelineBody

@Suite("Transfers of MoyaProvider", .tags(.concurrent), .watched) struct MoyaTransferTests {
    /// A body of four pieces, each of which arrives when the progress of the previous one was reported.
    private final class Pieces: Sendable {
        let transport: ScriptedTransport
        private let pieces: AsyncStream<Data>.Continuation
        private let count = Mutex(0)

        init(announcesLength: Bool = true) {
            let (body, pieces) = AsyncStream<Data>.makeStream()
            self.pieces = pieces
            transport = ScriptedTransport(
                always: .answer { request, _ in
                    let body = PipelineBody.stream(body, byteCount: announcesLength ? 4000 : nil)
                    return .init(request: request, head: .init(status: .ok), body: body)
                }
            )
            sendNext()
        }

        func sendNext() {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number > 4 { pieces.finish() } else { pieces.yield(Data(count: 1000)) }
        }
    }

    private func steps(
        of target: PlainTarget,
        _ transport: ScriptedTransport,
        onStep: @escaping () -> Void = {}
    ) async -> (steps: [Double], completed: [Bool], result: Result<Response, MoyaError>) {
        let provider = MoyaProvider<PlainTarget>(transport: transport)
        let steps = Handed(value: NSMutableArray())
        let result: Result<Response, MoyaError> = await withCheckedContinuation { continuation in
            provider.request(
                target,
                progress: { step in
                    steps.value.add([step.progress, step.completed ? 1 : 0, step.progressObject == nil ? 1 : 0])
                    onStep()
                },
                completion: { continuation.resume(returning: $0) }
            )
        }
        let rows = steps.value.compactMap { $0 as? [Double] }
        #expect(rows.allSatisfy { $0[2] == 0 })
        return (rows.map { $0[0] }, rows.map { $0[1] == 1 }, result)
    }

    @Test("M150: four pieces of a known length are four steps and the end")
    func knownLength() async {
        let pieces = Pieces()
        let (steps, completed, result) = await steps(of: PlainTarget(), pieces.transport, onStep: pieces.sendNext)
        #expect(steps == [0.25, 0.5, 0.75, 1, 1])
        #expect(completed == [false, false, false, false, true])
        #expect(result.response?.data.count == 4000)
    }

    @Test("M151: without a length, progress is 0 until the end")
    func unknownLength() async {
        let pieces = Pieces(announcesLength: false)
        let (steps, completed, _) = await steps(of: PlainTarget(), pieces.transport, onStep: pieces.sendNext)
        #expect(steps == [0, 0, 0, 0, 1])
        #expect(completed.last == true)
    }

    @Test("M153: a failure ends progress with a step without a response")
    func failure() async {
        let (steps, completed, result) = await steps(of: PlainTarget(), ScriptedTransport([.failure(.offline)]))
        #expect(steps == [0])
        #expect(completed == [false])
        #expect(result.text == "failed with URLError -1009")
    }

    @Test("M150, M155, M156: a download is saved where its closure says, and the response has no data")
    func download() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "new/report.bin")
        let target = PlainTarget(
            task: .downloadDestination { temporary, response in
                #expect(response.statusCode == 200)
                #expect(temporary.isFileURL)
                return (file, [.createIntermediateDirectories, .removePreviousFile])
            }
        )
        let pieces = Pieces()
        let (steps, _, result) = await steps(of: target, pieces.transport, onStep: pieces.sendNext)
        #expect(steps == [0.25, 0.5, 0.75, 1, 1])
        #expect(result.response?.data.isEmpty == true)
        #expect(try Data(contentsOf: file).count == 4000)
    }

    @Test("M156: without the options, an existing file or a missing folder is an error")
    func downloadWithoutOptions() async throws {
        let folder = try TemporaryFolder()
        let existing = folder.url.appending(path: "existing")
        try Data("old".utf8).write(to: existing)
        for file in [existing, folder.url.appending(path: "missing/file")] {
            let target = PlainTarget(task: .downloadDestination { _, _ in (file, []) })
            let provider = MoyaProvider<PlainTarget>(transport: ScriptedTransport([.status(200, body: "new")]))
            #expect(await provider.result(of: target).error != nil)
        }
        #expect(try Data(contentsOf: existing) == Data("old".utf8))
    }

    @Test("M23: a file is the body of its upload")
    func uploadFile() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "upload")
        try Data("content".utf8).write(to: file)
        let transport = ScriptedTransport(
            always: .answer { request, _ in
                .init(request: request, statusCode: 200, data: try await request.body.collect(upTo: 100))
            }
        )
        let provider = MoyaProvider<PlainTarget>(transport: transport, plugins: [LoggedPlugin("A", CallLog())])
        let result = await provider.result(of: PlainTarget(method: .put, task: .uploadFile(file)))
        #expect(result.response?.data == Data("content".utf8))
    }
}
