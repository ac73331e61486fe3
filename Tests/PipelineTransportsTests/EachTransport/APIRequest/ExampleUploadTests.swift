import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Examples of APIRequest: slow uploads", .tags(.concurrent), .realTime, .watched)
struct ExampleUploadTests {
    private func post(_ folder: ExampleFolder, byteCount: Int) throws -> NewPost {
        let video = try folder.file("clip.mp4", Data(repeating: 7, count: byteCount))
        return NewPost(text: "Hi", video: FormFile(contentsOf: video))
    }

    @Test(
        "C36 Upload progress starts before the server reads, never falls, and reaches 1 once, before the success",
        arguments: NetworkTransport.allCases
    )
    func progress(transport: NetworkTransport) async throws {
        let bench = try ExampleBench(transport, greeting: [.hold("progress")]) { _ in
            [.respond(201, body: ExampleBench.post)]
        }
        let folder = try ExampleFolder()
        let diary = Diary()
        async let finished: Void = bench.api.call(PostController.create(try post(folder, byteCount: 4 << 20)))
            .onProgress { diary.add("\($0)") }.onSuccess { diary.add("post \($0.id)") }.finished()
        await eventually { diary.entries.contains { $0 != "0.0" } }
        #expect(bench.server.requests.isEmpty)
        bench.server.release("progress")
        try await finished
        let steps = diary.entries.compactMap(Double.init)
        #expect(steps == steps.sorted() && steps.allSatisfy { (0...1).contains($0) })
        #expect(steps.contains { 0 < $0 && $0 < 1 })
        #expect(steps.count { $0 == 1 } == 1)
        #expect(diary.entries.suffix(2) == ["1.0", "post 7"])
    }

    @Test(
        "C31 B-C4 Cancelling an upload in flight calls onCancellation once and closes the connection",
        arguments: NetworkTransport.allCases
    )
    func cancel(transport: NetworkTransport) async throws {
        // After the hold, the server reads until the client hangs up.
        let bench = try ExampleBench(
            transport,
            receiveBufferByteCount: 64 << 10,
            greeting: [.receive, .hold("cancelled"), .stall]
        ) { _ in [] }
        let other = try LoopbackServer { _ in [.respond(200, body: "[]")] }
        let folder = try ExampleFolder()
        let diary = Diary()
        // More than two socket buffers hold.
        let create = PostController.create(try post(folder, byteCount: 16 << 20))
        let handle = bench.api.call(create).onRequestStarted { diary.add("started") }
            .onProgress { diary.add("\($0)") }.onSuccess { _ in diary.add("success") }
            .onError { diary.add("error \($0.code)") }.onCancellation { diary.add("cancellation") }.execute()
        try await bench.wait { $0.holdCount >= 1 }
        await eventually { diary.entries.contains { Double($0) ?? 0 > 0 } }
        handle.cancel()
        handle.cancel()
        await eventually { diary.entries.contains("cancellation") }
        bench.server.release("cancelled")
        try await bench.wait { $0.openConnectionCount == 0 }
        #expect(try await bench.api.send(PostController.list().serverURL(other.serverURL)) == [])
        handle.cancel()
        #expect(diary.entries.filter { Double($0) == nil } == ["started", "cancellation"])
        #expect(diary.entries.last == "cancellation")
        #expect(diary.entries.compactMap(Double.init).allSatisfy { $0 < 1 })
        #expect(bench.server.activity.connectionCount == 1 && bench.server.requests.isEmpty)
    }

    @Test(
        "C97 B-C30 Cancelling a batch of uploads cancels all in flight and starts no other",
        arguments: NetworkTransport.allCases
    )
    func cancelBatch(transport: NetworkTransport) async throws {
        let bench = try ExampleBench(transport) { _ in [.stall] }
        let diary = Diary()
        let uploads = (1...5).map { PostController.create(NewPost(text: "\($0)")) }
        let handle = bench.api.call(uploads.flatten().concurrent(by: 2)).onSuccess { _ in diary.add("success") }
            .onError { diary.add("error \($0.code)") }.onCancellation { diary.add("cancellation") }.execute()
        try await bench.wait { $0.requestCount >= 2 }
        handle.cancel()
        await eventually { !diary.entries.isEmpty }
        try await bench.wait { $0.openConnectionCount == 0 }
        #expect(diary.entries == ["cancellation"])
        #expect(bench.lines == ["POST /v1/post", "POST /v1/post"])
    }
}
