import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Examples of APIRequest: chains and batches", .tags(.concurrent), .realTime, .watched)
struct ExampleFlowTests {
    private let login = AuthController.login(email: "ann@example.com", password: "secret")
    private let seven = Post(id: 7, text: "Hi", at: Date(timeIntervalSince1970: 1_000_000_000))

    /// Waits until the server holds so many responses and has then responded to a probe.
    ///
    /// Any other request that was sent along with the held ones has arrived by then.
    private func linesAtHold(_ count: Int, _ bench: ExampleBench) async throws -> [String] {
        try await bench.wait { $0.holdCount >= count }
        _ = try await bench.api.send(APIRequest<IgnoredBody>("probe"))
        return bench.lines.filter { $0 != "GET /v1/probe" }
    }

    @Test(
        "C87 C88 C89 A chain sends each request after the previous response and returns all values, typed",
        arguments: NetworkTransport.allCases
    )
    func chain(transport: NetworkTransport) async throws {
        let lines = ["POST /v1/login", "GET /v1/post?offset=0&limit=100", "GET /v1/post/7"]
        let bench = try ExampleBench(
            transport,
            [
                lines[0]: [.hold("login"), .respond(200, body: ExampleBench.token)],
                lines[1]: [.hold("list"), .respond(200, body: "[\(ExampleBench.post)]")],
                lines[2]: [.hold("get"), .respond(200, body: ExampleBench.post)],
                "GET /v1/probe": [.respond(200)],
            ]
        )
        let chain = login.and(PostController.list()).and(PostController.get(id: 7))
        async let answers = bench.api.send(chain)
        for (index, hold) in ["login", "list", "get"].enumerated() {
            #expect(try await linesAtHold(index + 1, bench) == Array(lines[...index]))
            bench.server.release(hold)
        }
        let (session, posts, post): (LoginResponse, [Post], Post) = try await answers
        #expect(session.token == "t-1" && posts == [seven] && post == seven)
        #expect(bench.lines.filter { $0 != "GET /v1/probe" } == lines)
    }

    @Test(
        "C90 The first failure ends a chain and is reported once, with its request's text; no later request is sent",
        arguments: NetworkTransport.allCases
    )
    func brokenChain(transport: NetworkTransport) async throws {
        let diary = Diary()
        let bench = try ExampleBench(
            transport,
            [
                "POST /v1/login": [.respond(200, body: ExampleBench.token)],
                "GET /v1/post?offset=0&limit=100": [.respond(200, body: "[]")],
            ]
        )
        let chain = login.and(PostController.get(id: 8)).and(PostController.list())
        await bench.api.call(chain).onRequestStarted { diary.add("started") }.onSuccess { _ in diary.add("success") }
            .onError { diary.add($0.message) }.finished()
        #expect(diary.entries == ["started", "Post not found"])
        #expect(bench.lines == ["POST /v1/login", "GET /v1/post/8"])
        #expect(try await bench.api.send(PostController.list()) == [])
    }

    @Test(
        "C96 A batch of uploads that is limited to two at a time runs two at once, never three, and completes",
        arguments: NetworkTransport.allCases
    )
    func batch(transport: NetworkTransport) async throws {
        let arrived = Atomic(0)
        let bench = try ExampleBench(transport) { request in
            guard request.line == "POST /v1/post" else { return [.respond(200)] }
            let number = arrived.add(1, ordering: .relaxed).newValue
            return [.hold("pair \((number + 1) / 2)"), .respond(201, body: ExampleBench.post)]
        }
        let uploads = (1...6).map { number in
            let image = FormFile(Data("image \(number)".utf8), fileName: "\(number).jpg")
            return PostController.create(NewPost(text: "\(number)", images: [image]))
        }
        let diary = Diary()
        async let finished: Void = bench.api.call(uploads.flatten().concurrent(by: 2))
            .onProgress { diary.add("\($0)") }.onSuccess { diary.add("\($0.count) of 6, \($0.failures.count)") }
            .finished()
        for pair in 1...3 {
            #expect(try await linesAtHold(2 * pair, bench).count == 2 * pair)
            bench.server.release("pair \(pair)")
        }
        await finished
        #expect(diary.entries.suffix(2) == ["1.0", "6 of 6, 0"])
        let steps = diary.entries.compactMap(Double.init)
        #expect(steps == steps.sorted() && steps.count { $0 == 1 } == 1)
        let sent = bench.server.requests.filter { $0.line == "POST /v1/post" }.map(\.text)
        for number in 1...6 {
            let file = "filename=\"\(number).jpg\"\r\nContent-Type: image/jpeg\r\n\r\nimage \(number)\r\n--"
            #expect(sent.count { $0.contains(file) } == 1)
        }
    }

    @Test(
        "C97 C98 A failure ends a batch; with avoidCancelOnError(), the others continue and its index is reported",
        arguments: NetworkTransport.allCases,
        [false, true]
    )
    func brokenBatch(transport: NetworkTransport, goesOn: Bool) async throws {
        let bench = try ExampleBench(
            transport,
            ["DELETE /v1/post/1": [.respond(204)], "DELETE /v1/post/3": [.respond(204)]]
        )
        let batch = (1...3).map { PostController.delete(id: $0) }.flatten()
        let diary = Diary()
        await bench.api.call(goesOn ? batch.avoidCancelOnError() : batch)
            .onSuccess { diary.add("success \($0.failures.mapValues(\.code))") }.onError {
                diary.add("error \($0.code)")
            }
            .finished()
        let error = "error unacceptableStatus"
        #expect(diary.entries == (goesOn ? [error, "success [1: unacceptableStatus]"] : [error]))
        #expect(bench.lines == (goesOn ? [1, 2, 3] : [1, 2]).map { "DELETE /v1/post/\($0)" })
    }

    @Test(
        "C97 B-C32 The first failure of a batch cancels the requests in flight and is reported once",
        arguments: NetworkTransport.allCases
    )
    func endedBatch(transport: NetworkTransport) async throws {
        let exchanges = Diary()
        let bench = try ExampleBench(
            transport,
            ["DELETE /v1/post/1": [.stall], "DELETE /v1/post/2": [.hold("failure"), .respond(500), .close]],
            plugins: [
                .didReceive { result, _ in
                    if case .failure(let error) = result { exchanges.add("\(error.code)") }
                }
            ]
        )
        let diary = Diary()
        let batch = (1...5).map { PostController.delete(id: $0) }.flatten().concurrent(by: 2)
        async let finished: Void = bench.api.call(batch).onSuccess { _ in diary.add("success") }
            .onError { diary.add("error \($0.code)") }.onCancellation { diary.add("cancellation") }.finished()
        try await bench.wait { $0.requestCount >= 2 && $0.holdCount >= 1 }
        bench.server.release("failure")
        await finished
        try await bench.wait { $0.openConnectionCount == 0 }
        #expect(diary.entries == ["error unacceptableStatus"] && exchanges.entries == ["cancelled"])
        #expect(Set(bench.lines) == ["DELETE /v1/post/1", "DELETE /v1/post/2"] && bench.lines.count == 2)
    }
}
