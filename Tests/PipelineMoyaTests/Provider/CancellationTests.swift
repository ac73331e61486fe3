import Foundation
import PipelineMoya
import PipelineTesting
import TestSupport
import Testing

@Suite("Cancellation of MoyaProvider", .tags(.concurrent), .realTime, .watched) struct MoyaCancellationTests {
    let log = CallLog()

    @Test("M115, M117, M119: cancelling a sent request completes it once, with the error for cancellation")
    func cancelSent() async {
        let transport = ScriptedTransport(always: .hang)
        let provider = MoyaProvider<PlainTarget>(transport: transport, plugins: [LoggedPlugin("A", log)])
        let result: Result<Response, MoyaError> = await withCheckedContinuation { continuation in
            let request = provider.request(PlainTarget()) { continuation.resume(returning: $0) }
            #expect(!request.isCancelled)
            let cancellable = Handed(value: request)
            _Concurrency.Task {
                try await transport.waitForRequests()
                cancellable.value.cancel()
                cancellable.value.cancel()
                #expect(cancellable.value.isCancelled)
            }
        }
        guard case .underlying(let error, let response) = result.error else {
            Issue.record("\(result)")
            return
        }
        #expect(error.asAFError?.isExplicitlyCancelledError == true)
        #expect(response == nil)
        #expect(log.entries.suffix(2) == ["A.didReceive cancelled", "A.process cancelled"])
    }

    @Test("M100, M118: cancelling before the request closure responds sends nothing")
    func cancelEarly() {
        let transport = ScriptedTransport([])
        var proceed: (() -> Void)?
        let provider = MoyaProvider<PlainTarget>(
            requestClosure: { endpoint, done in
                proceed = { MoyaProvider<PlainTarget>.defaultRequestMapping(for: endpoint, closure: done) }
            },
            transport: transport,
            plugins: [LoggedPlugin("A", log)]
        )
        var result: Result<Response, MoyaError>?
        let request = provider.request(PlainTarget()) { result = $0 }
        request.cancel()
        #expect(request.isCancelled)
        #expect(result == nil)
        proceed?()
        #expect(result?.text == "URLError -999")
        #expect(log.entries == ["A.didReceive URLError -999", "A.process URLError -999"])
        #expect(transport.sent.isEmpty)
    }

    @Test("M111: a cancelled delayed stub completes at the end of its delay, with the error for cancellation")
    func cancelStub() async {
        let provider = MoyaProvider<PlainTarget>(
            stubClosure: MoyaProvider.delayedStub(0.05),
            plugins: [LoggedPlugin("A", log)]
        )
        let start = ContinuousClock.now
        let result: Result<Response, MoyaError> = await withCheckedContinuation { continuation in
            provider.request(PlainTarget()) { continuation.resume(returning: $0) }.cancel()
        }
        #expect(result.text == "URLError -999")
        #expect(ContinuousClock.now - start >= .milliseconds(50))
        #expect(log.entries.suffix(2) == ["A.didReceive URLError -999", "A.process URLError -999"])
    }

    @Test("A request closure that responds twice sends one request")
    func doneTwice() async {
        let transport = ScriptedTransport([.status(200), .status(201)])
        let provider = MoyaProvider<PlainTarget>(
            requestClosure: { endpoint, done in
                MoyaProvider<PlainTarget>.defaultRequestMapping(for: endpoint, closure: done)
                MoyaProvider<PlainTarget>.defaultRequestMapping(for: endpoint, closure: done)
            },
            transport: transport
        )
        #expect(await provider.result(of: PlainTarget()).text == "200")
        #expect(transport.sent.count == 1)
    }

    @Test("M85: a request closure may respond later, on another queue, with another request")
    func lateRequest() async {
        let transport = ScriptedTransport([.status(200)])
        let provider = MoyaProvider<PlainTarget>(
            requestClosure: { endpoint, done in
                let request = try? endpoint.urlRequest()
                DispatchQueue.global().async {
                    guard var request else { return done(.failure(.requestMapping(""))) }
                    request.setValue("signed", forHTTPHeaderField: "X-Signature")
                    done(.success(request))
                }
            },
            transport: transport
        )
        #expect(await provider.result(of: PlainTarget()).text == "200")
        #expect(transport.sent.first?.header("X-Signature") == "signed")
    }

    @Test("M116, M120: a token runs its action once and describes itself as an empty request")
    func token() {
        var count = 0
        let token = CancellableToken { count += 1 }
        #expect(token.debugDescription == "Empty Request")
        token.cancel()
        token.cancel()
        #expect(count == 1)
        #expect(token.isCancelled)
    }

    @Test("Cancelling the task of an asynchronous request cancels the request")
    func cancelTask() async throws {
        let transport = ScriptedTransport(always: .hang)
        let provider = MoyaProvider<PlainTarget>(transport: transport)
        let task = _Concurrency.Task { try await provider.request(PlainTarget()).statusCode }
        try await transport.waitForRequests()
        task.cancel()
        await #expect(throws: MoyaError.self) { try await task.value }
    }
}
