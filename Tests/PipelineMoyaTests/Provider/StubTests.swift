import Foundation
import PipelineMoya
import PipelineTesting
import TestSupport
import Testing

@Suite(.realTime, .watched) struct MoyaStubTests {
    let log = CallLog()

    @Test("M105: without a queue, an immediate stub completes before the request returns")
    func immediate() {
        let provider = MoyaProvider<GitHub>(stubClosure: MoyaProvider.immediatelyStub)
        var text: String?
        provider.request(.zen) { text = try? $0.get().mapString() }
        #expect(text == "Half measures are as bad as nothing at all.")
    }

    @Test("M106: with a queue, an immediate stub completes on it, after the request has returned")
    func immediateOnAQueue() async {
        let queue = Place.queue("stub")
        let provider = MoyaProvider<GitHub>(stubClosure: MoyaProvider.immediatelyStub, callbackQueue: queue)
        let place = await withCheckedContinuation { continuation in
            queue.async {
                provider.request(.zen) { _ in
                    self.log.add("completion")
                    continuation.resume(returning: Place.current)
                }
                self.log.add("returned")
            }
        }
        #expect(place == "stub")
        #expect(log.entries == ["returned", "completion"])
    }

    @Test("M107: a delayed stub completes on the main queue, no earlier than after its delay")
    func delayed() async {
        let provider = MoyaProvider<GitHub>(stubClosure: MoyaProvider.delayedStub(0.05))
        let start = ContinuousClock.now
        let place = await withCheckedContinuation { continuation in
            provider.request(.zen) { _ in continuation.resume(returning: Place.current) }
        }
        #expect(ContinuousClock.now - start >= .milliseconds(50))
        #expect(place == "main")
    }

    @Test("M104: the stub closure decides for each request, and a target that is not stubbed is sent")
    func stubClosure() async {
        let transport = ScriptedTransport([.status(201)])
        let provider = MoyaProvider<GitHub>(
            stubClosure: { $0 == .zen ? .immediate : .never },
            transport: transport
        )
        #expect(await provider.result(of: .zen).text == "200")
        #expect(await provider.result(of: .userProfile("ashfurrow")).text == "201")
        #expect(transport.sent.map(\.path) == ["/users/ashfurrow"])
    }

    @Test("M108: a sample of status and data becomes a response without header fields")
    func networkResponse() async {
        let response = await Self.stubbed(.networkResponse(418, Data("tea".utf8))).response
        #expect(response?.statusCode == 418)
        #expect(response?.data == Data("tea".utf8))
        #expect(response?.response == nil)
        #expect(response?.request != nil)
    }

    @Test("M108: a sample with a response keeps that response")
    func customResponse() async throws {
        let url = try #require(URL(string: "https://example.com"))
        let head = try #require(HTTPURLResponse(url: url, statusCode: 404, httpVersion: nil, headerFields: nil))
        let response = await Self.stubbed(.response(head, Data("gone".utf8))).response
        #expect(response?.response === head)
        #expect(response?.statusCode == 404)
    }

    @Test("M108: a sample of a failure becomes an underlying error without a response")
    func networkError() async {
        let error = NSError(domain: "Houston", code: -1234)
        let result = await Self.stubbed(.networkError(error))
        #expect(result.text == "Houston -1234")
        #expect(result.error?.response == nil)
    }

    @Test(
        "M109: a stub whose status is not accepted fails with its response",
        arguments: [(ValidationType.successCodes, 300), (.successAndRedirectCodes, 404), (.customCodes([201]), 200)]
    )
    func validation(validation: ValidationType, status: Int) async {
        let target = PlainTarget(validationType: validation)
        let result = await Self.stubbed(.networkResponse(status, Data("body".utf8)), target)
        #expect(result.text == "status \(status)")
        #expect(result.error?.response?.data == Data("body".utf8))
    }

    @Test(
        "M109, M128: a stub whose status is accepted succeeds",
        arguments: [
            (ValidationType.none, 500), (.successCodes, 204), (.successAndRedirectCodes, 302),
            (.customCodes([500]), 500),
            (.customCodes([]), 404),
        ]
    )
    func acceptedStatus(validation: ValidationType, status: Int) async {
        let result = await Self.stubbed(.networkResponse(status, Data()), PlainTarget(validationType: validation))
        #expect(result.text == "\(status)")
    }

    @Test("M110: the sample is not read before it is due")
    func lateSample() {
        let provider = MoyaProvider<PlainTarget>(
            endpointClosure: { target in
                Endpoint(
                    url: URL(target: target).absoluteString,
                    sampleResponseClosure: {
                        self.log.add("sample")
                        return .networkResponse(200, Data())
                    },
                    method: target.method,
                    task: target.task,
                    httpHeaderFields: target.headers
                )
            },
            stubClosure: MoyaProvider.delayedStub(3_600)
        )
        _ = provider.request(PlainTarget()) { _ in }
        log.add("returned")
        #expect(log.entries == ["returned"])
    }

    @Test("M112: a stub reports no progress and does not save a download")
    func stubbedDownload() async {
        let target = PlainTarget(
            task: .downloadDestination { file, _ in
                self.log.add("destination")
                return (file, [])
            }
        )
        let provider = MoyaProvider<PlainTarget>(stubClosure: MoyaProvider.immediatelyStub)
        await withCheckedContinuation { continuation in
            provider.request(target, progress: { _ in self.log.add("progress") }) { _ in continuation.resume() }
        }
        #expect(log.entries.isEmpty)
    }

    @Test("stubRequest for a target that is not stubbed fails, where Moya stops the program")
    func stubRequestWithoutStub() throws {
        let provider = MoyaProvider<PlainTarget>()
        let endpoint = provider.endpoint(PlainTarget())
        var result: Result<Response, MoyaError>?
        provider.stubRequest(
            PlainTarget(),
            request: try endpoint.urlRequest(),
            callbackQueue: nil,
            completion: { result = $0 },
            endpoint: endpoint,
            stubBehavior: .never
        )
        #expect(result?.error != nil)
    }

    private static func stubbed(
        _ sample: EndpointSampleResponse,
        _ target: PlainTarget = PlainTarget()
    ) async -> Result<Response, MoyaError> {
        let provider = MoyaProvider<PlainTarget>(
            endpointClosure: { target in
                Endpoint(
                    url: URL(target: target).absoluteString,
                    sampleResponseClosure: { sample },
                    method: target.method,
                    task: target.task,
                    httpHeaderFields: target.headers
                )
            },
            stubClosure: MoyaProvider.immediatelyStub
        )
        return await provider.result(of: target)
    }
}
