import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Tasks made from payloads", .watched)
struct APIRequestContentTests {
    private let bench = APIBench(ScriptedTransport(always: .ok))

    private func send(_ request: APIRequest<IgnoredBody>) async throws -> PipelineRequest {
        _ = try await bench.api.send(request.method(.post))
        return try #require(bench.transport.sent.last)
    }

    @Test("Parts added to the task of a form follow its own; a JSON task ignores them")
    func addedParts() async throws {
        let provider = Provider<MultiTarget>(transport: bench.transport) { target in
            let endpoint = Endpoint(target)
            let part = MultipartFormBodyPart(.bytes(Data("7".utf8)), name: "device")
            return endpoint.replacing(task: endpoint.task.adding(parts: [part]))
        }
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com"))
        _ = try await api.send(APIRequest<IgnoredBody>("x", payload: PayloadTests.Post(text: "t")).method(.post))
        let form = try #require(try await bench.transport.sent.last?.body.collect(upTo: 10_000))
        let names = String(decoding: form, as: UTF8.self).matches(of: /name="([^"]*)"/).map { String($0.1) }
        #expect(names == ["text", "device"])
        _ = try await api.send(APIRequest<IgnoredBody>("x", payload: PayloadTests.Signup()).method(.post))
        #expect(bench.sentText.hasPrefix(#"{"born""#))
    }

    private final class Count: Sendable {
        private let made = Atomic(0)

        var value: Int { made.load(ordering: .relaxed) }

        func next() -> Int { made.add(1, ordering: .relaxed).newValue }
    }

    /// Counts how often it makes its task, and optionally throws the first time.
    private struct Counted: APIPayload {
        let count: Count
        var throwsFirst = false
        func encode(to encoder: any Encoder) throws {}
        func makeTask(with coders: ProviderConfiguration.Coders) throws -> RequestTask {
            if count.next() == 1, throwsFirst { throw PipelineError(.file(.unreadable), "gone") }
            return .requestStream(.bytes(Data(repeating: 7, count: 100)))
        }
    }

    /// Uses the task of another request.
    private struct Borrowed: APIPayload {
        let request: APIRequest<IgnoredBody>
        func encode(to encoder: any Encoder) throws {}
        func makeTask(with coders: ProviderConfiguration.Coders) -> RequestTask { request.task }
    }

    @Test("An invalid path is reported before a payload failure, with and without progress", arguments: [true, false])
    func orderOfFailures(hasProgress: Bool) async throws {
        let payload = Counted(count: Count(), throwsFirst: true)
        let request = APIRequest<IgnoredBody>("x", "", payload: payload).method(.post)
        let error = await pipelineError {
            if hasProgress {
                _ = try await bench.api.send(request) { _ in }
            } else {
                _ = try await bench.api.send(request)
            }
        }
        #expect(error?.code == .invalidRequest(.path))
    }

    private static let callers: [@Sendable (APIClient, APIRequest<IgnoredBody>) async throws -> Void] = [
        { api, request in _ = try await api.send(request) },
        { api, request in _ = try await api.send(request) { _ in } },
        { api, request in _ = try await api.send(request.and(APIRequest<IgnoredBody>("y"))) { _ in } },
        { api, request in await api.call(request).finished() },
        { api, request in await api.call(request).onProgress { _ in }.finished() },
        { api, request in
            for try await _ in api.provider.requestWithProgress(MultiTarget(try api.resolved(request))) {}
        },
        { api, request in _ = try await api.provider.stream(MultiTarget(try api.resolved(request))) },
        { api, request in _ = try Endpoint(try api.resolved(request)).makeRequest() },
    ]

    @Test("A payload makes its task once per call, even if progress is observed", arguments: 0..<8)
    func madeOnce(caller: Int) async throws {
        for isBorrowed in [false, true] {
            let count = Count()
            var request = APIRequest<IgnoredBody>("x", payload: Counted(count: count)).method(.post)
            if isBorrowed { request = APIRequest("x", payload: Borrowed(request: request)).method(.post) }
            try await Self.callers[caller](bench.api, request)
            #expect(count.value == 1)
        }
    }

    @Test("A payload that throws once fails only that call, even if progress is observed")
    func throwsOnce() async throws {
        let count = Count()
        let request = APIRequest<IgnoredBody>("x", payload: Counted(count: count, throwsFirst: true)).method(.post)
        let error = await pipelineError { _ = try await bench.api.send(request) { _ in } }
        #expect(error?.code == .file(.unreadable) && count.value == 1 && bench.transport.sent.isEmpty)
        _ = try await bench.api.send(request)
        #expect(count.value == 2)
    }

    @Test("A PipelineError from a payload is the failure, any other error is encoding, and nothing is sent")
    func brokenOwnForm() async throws {
        struct Broken: APIPayload, Error {
            var error: PipelineError?
            func encode(to encoder: any Encoder) throws {}
            func makeTask(with coders: ProviderConfiguration.Coders) throws -> RequestTask { throw error ?? self }
        }
        let own = Broken(error: PipelineError(.file(.unreadable), "gone"))
        #expect(await pipelineError { _ = try await send(APIRequest("x", payload: own)) }?.code == .file(.unreadable))
        #expect(await pipelineError { _ = try await send(APIRequest("x", payload: Broken())) }?.code == .encoding)
        let alone = APIRequest<IgnoredBody>("x", payload: Broken()).serverURL(ServerURL(base: "https://example.com"))
        #expect(await pipelineError { _ = try Endpoint(alone).makeRequest() }?.code == .encoding)
        #expect(bench.transport.sent.isEmpty)
    }
}
