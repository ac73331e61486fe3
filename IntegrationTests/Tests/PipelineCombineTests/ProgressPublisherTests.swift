import Foundation
import Pipeline
import PipelineCombine
import PipelineTesting
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite("requestWithProgressPublisher", .watched)
struct ProgressPublisherTests {
    /// A body of four bytes in two pieces; the test decides when the second one arrives.
    struct Body {
        let pieces = AsyncThrowingStream<Data, any Error>.makeStream()

        init() { pieces.continuation.yield(Data("ab".utf8)) }

        var transport: ScriptedTransport {
            ScriptedTransport([.status(200, body: .stream(pieces.stream, byteCount: 4))])
        }

        func end(_ error: (any Error)? = nil) {
            if error == nil { pieces.continuation.yield(Data("cd".utf8)) }
            pieces.continuation.finish(throwing: error)
        }
    }

    @Test("M178 M180 Progress steps are published, the last with the response, and then the end")
    func steps() async {
        let body = Body()
        let publisher = Provider<Library>(transport: body.transport).requestWithProgressPublisher(.book(id: 3))
        // Ends only after the last step was seen, because the first of two simultaneous steps may be dropped.
        let watched = publisher.handleEvents(receiveOutput: { step in
            if step.received.byteCount == 2 { body.pieces.continuation.yield(Data("cd".utf8)) }
            if step.received.byteCount == 4, !step.completed { body.pieces.continuation.finish() }
        })
        let outcome = await Outcome.of(watched)
        #expect(outcome.failure == nil)
        #expect(outcome.values.map(\.received.byteCount) == [2, 4, 4])
        #expect(outcome.values.first?.progress == 0.5)
        #expect(outcome.values.last?.progress == 1)
        #expect(outcome.values.map(\.completed) == [false, false, true])
        #expect(outcome.values.last?.response?.data == Data("abcd".utf8))
    }

    @Test("M180 A call that fails midway publishes its progress steps and then the failure")
    func failure() async {
        let body = Body()
        let publisher = Provider<Library>(transport: body.transport).requestWithProgressPublisher(.book(id: 3))
        let watched = publisher.handleEvents(receiveOutput: { _ in body.end(PipelineError(.connectionLost, "by script"))
        })
        let outcome = await Outcome.of(watched)
        #expect(outcome.values.map(\.progress) == [0.5])
        #expect(outcome.failure?.code == .connectionLost)
    }

    @Test("M12 M179 The publisher accepts any target, and each subscription sends its own request")
    func anyTarget() async {
        let transport = ScriptedTransport(always: .status(200))
        let publisher = Provider<MultiTarget>(transport: transport).requestWithProgressPublisher(Library.book(id: 1))
        for _ in 0..<2 {
            let outcome = await Outcome.of(publisher)
            #expect(outcome.values.last?.response?.statusCode == 200)
        }
        #expect(transport.sent.map(\.path) == ["/v1/books/1", "/v1/books/1"])
    }

    @Test("B-M40 A subscriber that demands one value at a time gets the last one and the end")
    func slowSubscriber() async {
        let body = Body()
        let publisher = Provider<Library>(transport: body.transport).requestWithProgressPublisher(.book(id: 3))
        let events = AsyncStream.makeStream(of: Double.self)
        let subscriber = AnySubscriber<ProgressResponse, PipelineError>(
            receiveSubscription: { $0.request(.max(1)) },
            receiveValue: { step in
                events.continuation.yield(step.progress)
                if step.progress == 0.5 { body.end() }
                return .max(1)
            },
            receiveCompletion: { _ in events.continuation.finish() }
        )
        publisher.subscribe(subscriber)
        var found: [Double] = []
        for await progress in events.stream { found.append(progress) }
        #expect(found.first == 0.5)
        #expect(found.last == 1)
    }
}
