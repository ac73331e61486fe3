import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Provider: callbacks", .tags(.concurrent), .watched)
struct ProviderCallbackTests {
    @Test("Callbacks run once, on the call's queue or otherwise on the provider's")
    func callbackQueues() async throws {
        let key = DispatchSpecificKey<String>()
        let own = DispatchQueue(label: "call")
        own.setSpecific(key: key, value: "call")
        let general = DispatchQueue(label: "provider")
        general.setSpecific(key: key, value: "provider")
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            configuration: .init(callbackExecutor: .queue(general))
        )
        let (names, continuation) = AsyncStream.makeStream(of: String?.self)
        let note = { @Sendable in _ = continuation.yield(DispatchQueue.getSpecific(key: key)) }
        provider.request(
            TestTarget(),
            callbackExecutor: .queue(own),
            progress: { _ in note() },
            completion: { _ in note() }
        )
        var iterator = names.makeAsyncIterator()
        for _ in 0..<2 { #expect(await iterator.next() == "call") }
        provider.request(TestTarget(), progress: { _ in note() }, completion: { _ in note() })
        for _ in 0..<2 { #expect(await iterator.next() == "provider") }
        own.sync {}
        general.sync {}
        continuation.finish()
        #expect(await iterator.next() == nil)
    }

    @Test("A callback never runs before request returns, even on an idle queue")
    func callbackIsAsynchronous() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(200)))
        let queue = DispatchQueue(label: "serial")
        let events = Journal()
        let (done, continuation) = AsyncStream.makeStream(of: Void.self)
        queue.sync {
            provider.request(TestTarget(), callbackExecutor: .queue(queue)) { _ in
                events.add("completion")
                continuation.yield()
            }
            events.add("returned")
        }
        for await _ in done { break }
        #expect(events.entries == ["returned", "completion"])
    }

    @Test("A released provider still finishes its calls")
    func releasedProvider() async throws {
        let clock = ManualClock()
        let (results, continuation) = AsyncStream.makeStream(of: Int.self)
        weak var weakProvider: Provider<TestTarget>?
        do {
            let provider = Provider<TestTarget>(
                transport: ScriptedTransport(always: .delayed(.seconds(1), .status(200))),
                configuration: .init(clock: clock)
            )
            weakProvider = provider
            provider.request(TestTarget()) { result in
                if case .success(let response) = result { continuation.yield(response.statusCode) }
                continuation.finish()
            }
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        var iterator = results.makeAsyncIterator()
        #expect(await iterator.next() == 200)
        await eventually { weakProvider == nil }
    }

    @Test("A failure reaches the callback as a PipelineError")
    func callbackFailure() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .failure(TestFailure())))
        let (codes, continuation) = AsyncStream.makeStream(of: PipelineError.Code.self)
        provider.request(TestTarget()) { result in
            if case .failure(let error) = result { continuation.yield(error.code) }
        }
        var iterator = codes.makeAsyncIterator()
        #expect(await iterator.next() == .transport)
    }
}
