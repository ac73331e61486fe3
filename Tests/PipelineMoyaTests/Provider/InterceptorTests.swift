import Foundation
import PipelineMoya
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// An interceptor that marks requests and returns its decisions in order.
private final class MarkingInterceptor: RequestInterceptor {
    let log = CallLog()
    private let decisions: Mutex<[RetryResult]>
    private let adaptation: @Sendable (URLRequest) throws -> URLRequest

    init(
        _ decisions: [RetryResult] = [],
        adapt: @escaping @Sendable (URLRequest) throws -> URLRequest = { request in
            var request = request
            request.headers.add(name: "X-Marks", value: (request.headers["X-Marks"] ?? "") + "I")
            return request
        }
    ) {
        self.decisions = Mutex(decisions)
        adaptation = adapt
    }

    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        completion(Result { try adaptation(urlRequest) })
    }

    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let marks = request.request?.value(forHTTPHeaderField: "X-Marks") ?? "-"
        let text = Result<Response, MoyaError>.failure(.underlying(error, nil)).text
        log.add("\(request.retryCount) \(marks) \(request.response?.statusCode ?? 0) \(text)")
        let decision = decisions.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        DispatchQueue.global().async { completion(decision ?? .doNotRetry) }
    }
}

/// A target that accepts only statuses from 200 to 299.
private var validated: PlainTarget { PlainTarget(validationType: .successCodes) }

@Suite("Interceptors of a Session", .watched) struct InterceptorTests {
    let log = CallLog()

    @Test("Each attempt runs the plugins and then the adapter, and the completion is called once")
    func retried() async {
        let interceptor = MarkingInterceptor([.retry, .retryWithDelay(0.001), .retryWithDelay(.nan)])
        let steps: [ScriptedTransport.Step] = [.status(401), .failure(.offline), .status(503), .status(200)]
        let transport = ScriptedTransport(steps)
        let session = Session(transport: transport, interceptor: interceptor)
        let provider = MoyaProvider<PlainTarget>(session: session, plugins: [LoggedPlugin("A", log)])
        #expect(await provider.result(of: validated).text == "200")
        #expect(transport.sent.map { $0.header("X-Marks") } == ["AI", "AI", "AI", "AI"])
        #expect(
            interceptor.log.entries == [
                "0 AI 401 rejected 401", "1 AI 0 failed with URLError -1009", "2 AI 503 rejected 503",
            ]
        )
        #expect(log.entries.count { $0 == "A.prepare" } == 4)
        #expect(log.entries.suffix(3) == ["A.willSend A", "A.didReceive 200", "A.process 200"])
    }

    @Test("A status that the target accepts is not asked about")
    func accepted() async {
        let interceptor = MarkingInterceptor([.retry])
        let session = Session(transport: ScriptedTransport([.status(500)]), interceptor: interceptor)
        #expect(await MoyaProvider<PlainTarget>(session: session).result(of: PlainTarget()).text == "500")
        #expect(interceptor.log.entries.isEmpty)
    }

    @Test("A failure that is not retried keeps its error and its response")
    func notRetried() async {
        let transport = ScriptedTransport(always: .status(404, body: "gone"))
        let session = Session(transport: transport, interceptor: MarkingInterceptor())
        let result = await MoyaProvider<PlainTarget>(session: session).result(of: validated)
        #expect(result.text == "rejected 404")
        #expect(result.error?.response?.data == Data("gone".utf8))
        #expect(transport.sent.count == 1)
    }

    @Test("The error of a retrier ends the call, with the error of the request and its response")
    func retrierFailed() async throws {
        let transport = ScriptedTransport(always: .status(401, body: "who"))
        let interceptor = MarkingInterceptor([.doNotRetryWithError(URLError(.userAuthenticationRequired))])
        let session = Session(transport: transport, interceptor: interceptor)
        let result = await MoyaProvider<PlainTarget>(session: session).result(of: validated)
        guard case .underlying(AFError.requestRetryFailed(let error, let original), let response) = result.error else {
            Issue.record("\(result)")
            return
        }
        #expect((error as? URLError)?.code == .userAuthenticationRequired)
        #expect(original.asAFError?.responseCode == 401)
        #expect(response?.data == Data("who".utf8))
    }

    @Test("The error of an adapter ends the call unless the retrier retries, and nothing is sent")
    func adapterFailed() async {
        let transport = ScriptedTransport(always: .status(200))
        let interceptor = MarkingInterceptor([.retry]) { _ in throw URLError(.userAuthenticationRequired) }
        let session = Session(transport: transport, interceptor: interceptor)
        let result = await MoyaProvider<PlainTarget>(session: session).result(of: validated)
        guard case .underlying(AFError.requestAdaptationFailed(let error), nil) = result.error else {
            Issue.record("\(result)")
            return
        }
        #expect((error as? URLError)?.code == .userAuthenticationRequired)
        #expect(interceptor.log.entries.count == 2)
        #expect(transport.sent.isEmpty)
    }

    @Test("An interceptor may implement only one of the two, and a call of the native provider runs neither")
    func defaults() async throws {
        struct Passive: RequestInterceptor {}
        let transport = ScriptedTransport([.status(500), .status(500)])
        let provider = MoyaProvider<PlainTarget>(session: Session(transport: transport, interceptor: Passive()))
        #expect(await provider.result(of: validated).text == "rejected 500")
        let marked = MarkingInterceptor([.retry])
        let other = MoyaProvider<PlainTarget>(session: Session(transport: transport, interceptor: marked))
        _ = try await other.provider.request(PipelineCore.MultiTarget(URLTarget("https://example.com")))
        #expect(transport.sent.last?.header("X-Marks") == nil)
        #expect(marked.log.entries.isEmpty)
    }

    @Test("A call whose interceptor never responds ends when it is cancelled", arguments: [true, false])
    func neverAnswers(inAdapt: Bool) async throws {
        struct Silent: RequestInterceptor {
            let inAdapt: Bool
            let ask: @Sendable () -> Void

            func adapt(
                _ urlRequest: URLRequest,
                for session: Session,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) {
                if inAdapt { ask() } else { completion(.success(urlRequest)) }
            }

            func retry(
                _ request: Request,
                for session: Session,
                dueTo error: any Error,
                completion: @escaping @Sendable (RetryResult) -> Void
            ) {
                ask()
            }
        }
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let silent = Silent(inAdapt: inAdapt) { ask.finish() }
        let session = Session(transport: ScriptedTransport(always: .status(500)), interceptor: silent)
        let provider = MoyaProvider<PlainTarget>(session: session)
        async let result = provider.result(of: validated)
        for await _ in asked {}
        session.cancelAllRequests()
        #expect(await result.text == "cancelled")
    }
}

@Suite("Cancellation of a Session", .watched) struct SessionCancellationTests {
    @Test("All requests in progress end as cancelled; later and ended ones are left alone")
    func cancelAll() async throws {
        let transport = ScriptedTransport([.hang, .hang, .status(200)])
        let session = Session(transport: transport)
        let provider = MoyaProvider<PlainTarget>(session: session)
        async let first = provider.result(of: PlainTarget())
        async let second = MoyaProvider<PlainTarget>(session: session).result(of: PlainTarget())
        try await transport.waitForRequests(2)
        await withCheckedContinuation { continuation in
            session.cancelAllRequests { continuation.resume() }
        }
        #expect(await [first.text, second.text] == ["cancelled", "cancelled"])
        var ended: (any PipelineMoya.Cancellable)?
        let last = await withCheckedContinuation { continuation in
            ended = provider.request(PlainTarget()) { continuation.resume(returning: $0.text) }
        }
        #expect(last == "200")
        session.cancelAllRequests()
        #expect(ended?.isCancelled == false)
    }

    @Test("An invalidated session cancels its requests and refuses later ones")
    func invalidated() async throws {
        let transport = ScriptedTransport(always: .hang)
        let session = Session(transport: transport)
        let provider = MoyaProvider<PlainTarget>(session: session)
        async let first = provider.result(of: PlainTarget())
        try await transport.waitForRequests()
        session.session.invalidateAndCancel()
        #expect(await first.text == "cancelled")
        guard case .underlying(AFError.sessionInvalidated, nil) = await provider.result(of: PlainTarget()).error else {
            Issue.record("The session is in use.")
            return
        }
        #expect(transport.sent.count == 1)
    }
}
