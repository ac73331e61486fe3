import Foundation
import PipelineMoya
import PipelineTesting
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite(.watched) struct MoyaPublisherTests {
    private func collected<P: Publisher>(_ publisher: P) -> ([P.Output], Subscribers.Completion<P.Failure>?) {
        var values: [P.Output] = []
        var end: Subscribers.Completion<P.Failure>?
        let subscription = publisher.sink {
            end = $0
        } receiveValue: {
            values.append($0)
        }
        withExtendedLifetime(subscription) {}
        return (values, end)
    }

    @Test("M178, M179: nothing is sent before a subscription, and each subscription sends")
    func cold() {
        let log = CallLog()
        let provider = MoyaProvider<GitHub>(
            stubClosure: MoyaProvider.immediatelyStub,
            plugins: [LoggedPlugin("A", log)]
        )
        let publisher = provider.requestPublisher(.zen)
        #expect(log.entries.isEmpty)
        for _ in 0..<2 {
            let (values, end) = collected(publisher)
            #expect(values.map(\.statusCode) == [200])
            if case .finished = end {} else { Issue.record("\(String(describing: end))") }
        }
        #expect(log.entries.count { $0 == "A.prepare" } == 2)
    }

    @Test("M181: operators map responses, and errors are MoyaError")
    func operators() {
        let provider = MoyaProvider<GitHub>(stubClosure: MoyaProvider.immediatelyStub)
        let text = provider.requestPublisher(.zen).filterSuccessfulStatusCodes().mapString()
        #expect(collected(text).0 == ["Half measures are as bad as nothing at all."])
        let (_, end) = collected(provider.requestPublisher(.zen).filter(statusCode: 404))
        guard case .failure(.statusCode) = end else {
            Issue.record("\(String(describing: end))")
            return
        }
    }

    @Test("M121: cancelling the subscription cancels the request")
    func cancellation() async throws {
        let log = CallLog()
        let transport = ScriptedTransport(always: .hang)
        let provider = MoyaProvider<PlainTarget>(transport: transport, plugins: [LoggedPlugin("A", log)])
        let subscription = Handed(
            value: provider.requestPublisher(PlainTarget()).sink(receiveCompletion: { _ in log.add("end") }) { _ in }
        )
        try await transport.waitForRequests()
        subscription.value.cancel()
        await eventually { log.entries.last?.hasPrefix("A.process") == true }
        #expect(!log.entries.contains("end"))
    }
}
