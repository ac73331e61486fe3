import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

/// Every way to send ends in exactly one didFinish.
@Suite("Stages: didFinish, for each way to send", .tags(.concurrent), .watched)
struct DidFinishWayTests {
    private struct Named: DecodableTargetType {
        typealias ResultType = [Int]
        var baseURL: URL { URL(string: "https://api.example.com") ?? URL(filePath: "/") }
        var path: String { "numbers" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    enum Way: CaseIterable {
        case plain, typed, named, anyNamed, progress, stream, send, chain
        case callback, callbackWithProgress, apiCall

        var decodes: Bool {
            switch self {
            case .plain, .progress, .stream, .callback, .callbackWithProgress: false
            default: true
            }
        }

        /// Whether the call runs in its caller's task, so that cancelling the task cancels it before it starts.
        var isInCallersTask: Bool { [.plain, .typed, .named, .anyNamed, .stream, .send].contains(self) }
    }

    private let outcomes = Outcomes()
    private let journal = Journal()

    private func send(_ way: Way, _ step: ScriptedTransport.Step) async throws {
        let transport = ScriptedTransport(always: step)
        let plugins: [any PluginType] = [
            outcomes, Layer(name: "L", journal: journal), Observer(name: "O", journal: journal),
        ]
        let one = Provider<Named>(transport: transport, plugins: plugins) { [journal] target in
            journal.add("endpoint")
            return Endpoint(target)
        }
        let any = Provider<MultiTarget>(transport: transport, plugins: plugins)
        let api = APIClient(any, server: ServerURL(base: "https://api.example.com"))
        let request = APIRequest<[Int]>("numbers")
        switch way {
        case .plain: _ = try await one.request(Named())
        case .typed: _ = try await one.request(Named(), as: [Int].self)
        case .named: _ = try await one.requestDecoded(Named())
        case .anyNamed: _ = try await any.requestDecoded(Named())
        case .progress: for try await _ in one.requestWithProgress(Named()) {}
        case .stream: for try await _ in try await one.stream(Named()).body {}
        case .send: _ = try await api.send(request)
        case .chain: _ = try await api.send(request.and(APIRequest<IgnoredBody>("nothing")))
        default: try await call(way, one, api, request)
        }
    }

    private func call(
        _ way: Way,
        _ one: Provider<Named>,
        _ api: APIClient,
        _ request: APIRequest<[Int]>
    ) async throws {
        let error: PipelineError? = await withCheckedContinuation { continuation in
            switch way {
            case .callback: one.request(Named()) { continuation.resume(returning: $0.error) }
            case .callbackWithProgress:
                one.request(Named(), progress: { _ in }, completion: { continuation.resume(returning: $0.error) })
            default:
                api.call(request)
                    .onSuccess { _ in continuation.resume(returning: nil) }
                    .onError { continuation.resume(returning: $0) }
                    .execute()
            }
        }
        if let error { throw error }
    }

    @Test("A success reaches didFinish once", arguments: Way.allCases)
    func success(way: Way) async throws {
        try await send(way, .status(200, body: "[1, 2]"))
        #expect(outcomes.texts == Array(repeating: "success", count: way == .chain ? 2 : 1))
        #expect(outcomes.all.first?.receivedByteCount == 6)
    }

    @Test("P10 A body that does not decode is a failure with its status and exchange", arguments: Way.allCases)
    func decoding(way: Way) async throws {
        let error = await pipelineError { try await send(way, .status(200, body: "[no")) }
        guard way.decodes else {
            #expect(error == nil)
            return #expect(outcomes.texts == ["success"])
        }
        let outcome = try #require(outcomes.all.first)
        #expect(outcomes.count == 1)
        #expect(outcome.kind == .failure)
        #expect(error?.code.isKind(of: .mapping) == true)
        #expect(outcome.error?.code == error?.code)
        #expect(outcome.error?.reason == error?.reason)
        #expect(outcome.statusCode == 200)
        #expect(outcome.receivedByteCount == 3)
        #expect(outcome.exchanges.count == 1)
    }

    @Test("A failure of the transport reaches didFinish once", arguments: Way.allCases)
    func failure(way: Way) async throws {
        let error = await pipelineError { try await send(way, .failure(.dns)) }
        #expect(error?.code == .dns)
        #expect(outcomes.texts == ["failure dns"])
    }

    @Test(
        "P10 A call cancelled before it starts reaches didFinish once and no other stage",
        arguments: Way.allCases.filter(\.isInCallersTask)
    )
    func cancelledBefore(way: Way) async throws {
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await send(way, .status(200, body: "[]"))
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(outcomes.texts == ["cancelled cancelled"])
        #expect(outcomes.all.first?.attemptCount == 0)
        #expect(outcomes.all.first?.exchanges.isEmpty == true)
        #expect(journal.entries == [])
    }

    @Test(
        "P10 Each call that is cancelled right after it was made reaches didFinish once",
        arguments: [true, false]
    )
    func cancelledAtOnce(isAPICall: Bool) async throws {
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport(always: .hang),
            plugins: [outcomes, Layer(name: "L", journal: journal)]
        )
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com"))
        for _ in 0..<200 {
            let handle =
                isAPICall ? api.call(APIRequest<[Int]>("numbers")).execute() : provider.request(Named()) { _ in }
            handle.cancel()
            await handle.value
        }
        #expect(outcomes.texts == Array(repeating: "cancelled cancelled", count: 200))
    }
}

extension Result where Failure == PipelineError {
    fileprivate var error: PipelineError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
