import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

extension ExchangeStageTests {
    /// A body in pieces that records when it is closed.
    func stream(_ pieces: [String], endless: Bool = false) -> PipelineBody {
        let rest = Mutex(pieces[...])
        let end = StreamEnd(journal: journal)
        return .stream(
            AsyncThrowingStream<Data, any Error> {
                _ = end
                if let piece = rest.withLock({ $0.popFirst() }) { return Data(piece.utf8) }
                if endless {
                    let never = AsyncStream<Never> { _ in }
                    for await _ in never {}
                    throw CancellationError()
                }
                return nil
            }
        )
    }

    private final class StreamEnd: Sendable {
        let journal: Journal

        init(journal: Journal) { self.journal = journal }

        deinit { journal.add("closed") }
    }

    @Test("Rule 9: send returns the transport's body, and the hop buffers the body that the plugins return")
    func bodies() async throws {
        let transport = ScriptedTransport { [self] _, _ in .status(200, body: stream(["a", "b"])) }
        let looking = PluginStack.exchange(name: "looking") { [journal] request, _, send in
            var response = try await send(request)
            journal.add(response.body.bytes == nil ? "stream" : "bytes")
            journal.add("\(response.exchanges.count)")
            let body = response.body
            response.body = .stream(
                AsyncStream {
                    $0.yield(Data("0".utf8))
                    $0.finish()
                }.joined(body)
            )
            return response
        }
        let response = try await provider(transport, observer, looking).request(TestTarget())
        #expect(response.data == Data("0ab".utf8))
        // Observers see what the transport delivered.
        #expect(journal.entries.filter { $0 != "closed" } == ["send /v1/items", "stream", "1", "got 200 2 bytes"])
    }

    @Test("Rule 9: the duration of an exchange is final when its body ends")
    func duration() async throws {
        let feed = Feed()
        let transport = ScriptedTransport(always: .status(200, body: .stream(feed)))
        let provisional = Mutex<Duration?>(nil)
        let looking = PluginStack.exchange(name: "looking") { request, _, send in
            let response = try await send(request)
            provisional.withLock { $0 = response.exchanges.last?.duration }
            return response
        }
        let provider = provider(transport, looking)
        let call = Task { try await provider.request(TestTarget()) }
        await eventually { provisional.withLock { $0 != nil } }
        clock.advance(by: .seconds(3))
        feed.finish()
        #expect(try await call.value.exchanges.map(\.duration) == [.seconds(3)])
        #expect(provisional.withLock { $0 } == .zero)
    }

    @Test("Rule 9: a response that no plugin returns is closed, and observers see it before the call ends")
    func abandoned() async throws {
        let transport = ScriptedTransport { [self] _, index in
            index == 0 ? .status(503, body: stream(["a"])) : .status(200, body: stream(["b"]))
        }
        let twice = PluginStack.exchange(name: "twice") { request, _, send in
            _ = try await send(request)
            return try await send(request)
        }
        let response = try await provider(transport, observer, twice).request(TestTarget())
        #expect(response.data == Data("b".utf8))
        #expect(journal.entries.count { $0 == "closed" } == 2)
        #expect(journal.entries.contains("got 503 1 bytes"))
        #expect(journal.entries.contains("got 200 1 bytes"))
    }

    @Test("Rule 9: a partly read body is closed when the plugin drops it")
    func partlyRead() async throws {
        let transport = ScriptedTransport { [self] _, index in
            index == 0 ? .status(503, body: stream(["a"], endless: true)) : .status(200)
        }
        let peeking = PluginStack.exchange(name: "peeking") { [journal] request, _, send in
            do {
                let response = try await send(request)
                var pieces = response.body.chunks().makeAsyncIterator()
                _ = try await pieces.next()
            }
            await eventually { [journal] in
                journal.entries.contains("closed") && journal.entries.contains { $0.hasPrefix("got 503") }
            }
            return try await send(request)
        }
        let response = try await provider(transport, observer, peeking).request(TestTarget())
        #expect(response.exchanges.map(\.statusCode) == [503, 200])
    }

    @Test("Rule 9: an endless body that no plugin returns is closed after discardedBodyDuration")
    func endlessAbandoned() async throws {
        let transport = ScriptedTransport { [self] _, index in
            index == 0 ? .status(503, body: stream(["a"], endless: true)) : .status(200)
        }
        let twice = PluginStack.exchange(name: "twice") { request, _, send in
            _ = try await send(request)
            return try await send(request)
        }
        let provider = provider(transport, observer, twice)
        let call = Task { try await provider.request(TestTarget()) }
        #expect(try await clock.advanceToNextSleeper() == ProviderConfiguration.Limits().discardedBodyDuration)
        let response = try await call.value
        #expect(response.statusCode == 200)
        #expect(response.exchanges.map(\.failure) == [nil, nil])
        #expect(journal.entries.count { $0.hasPrefix("got") } == 2)
    }

    @Test("Rule 9: a failing body fails the call and its exchange with the same code")
    func failingBody() async throws {
        let feed = Feed()
        feed.finish(throwing: PipelineError(.connectionLost, "by script"))
        let transport = ScriptedTransport(always: .status(200, body: .stream(feed)))
        let error = await #expect(throws: PipelineError.self) {
            try await provider(transport, observer, noting("A")).request(TestTarget())
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.exchanges.map(\.failure) == [.connectionLost])
        #expect(journal.entries.last == "got connectionLost")
    }

    @Test("Rule 9: a streamed call gets the stream that the plugins return")
    func streamed() async throws {
        let transport = ScriptedTransport { [self] _, _ in .status(200, body: stream(["a", "b"])) }
        let response = try await provider(transport, noting("A")).stream(TestTarget())
        var pieces: [Data] = []
        for try await piece in response.body { pieces.append(piece) }
        #expect(pieces == [Data("a".utf8), Data("b".utf8)])
    }

    @Test("Rule 9: a download is written from the network or from a plugin's own response", arguments: [true, false])
    func download(isCached: Bool) async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport { [self] _, _ in .status(200, body: stream(["wi", "re"])) }
        let cache = PluginStack.exchange(name: "cache") { request, _, send in
            guard isCached else { return try await send(request) }
            return PipelineResponse(request: request, statusCode: 200, data: Data("cached".utf8))
        }
        let file = folder.file("f")
        let target = TestTarget(task: .downloadDestination(.file(file)))
        let response = try await provider(transport, cache).request(target)
        #expect(response.body.fileURL == file)
        #expect(folder.text(of: "f") == (isCached ? "cached" : "wire"))
        #expect(folder.names == ["f"])
        #expect(transport.sent.count == (isCached ? 0 : 1))
    }

    @Test("Rule 9: the body of a redirect is discarded, and observers see it if it ends in time")
    func redirectBody() async throws {
        let transport = ScriptedTransport { [self] _, index in
            index == 0 ? .status(302, headers: [.location: "/b"], body: stream(["moved"])) : .status(200)
        }
        _ = try await provider(transport, observer, noting("A")).request(TestTarget())
        #expect(journal.entries.contains("got 302 5 bytes"))
    }

    @Test("Rule 9: a body that fails while it is discarded does not fail its exchange")
    func discardedFailure() async throws {
        let body = AsyncThrowingStream<Data, any Error> {
            $0.yield(Data("a".utf8))
            $0.finish(throwing: PipelineError(.connectionLost, "cut"))
        }
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "/next"], body: .stream(body)), .status(200),
        ])
        let passing: any PluginType = .exchange { request, _, send in try await send(request) }
        let response = try await provider(transport, observer, passing).request(TestTarget())
        #expect(response.exchanges.map(\.failure) == [nil, nil])
        #expect(journal.entries.filter { $0.hasPrefix("got") }.map { $0.prefix(7) } == ["got 302", "got 200"])
    }

    @Test("Rule 9: the error after too many redirects has the last response with its body in memory")
    func tooManyRedirects() async throws {
        let transport = ScriptedTransport { [self] _, _ in
            .status(302, headers: [.location: "/next"], body: stream(["a", "b"]))
        }
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [.exchange { request, _, send in try await send(request) }],
            configuration: .init(redirects: RedirectPolicy(maximumHopCount: 1), clock: clock)
        )
        let error = await pipelineError { _ = try await provider.request(TestTarget()) }
        #expect(error?.code == .redirect(.loop))
        #expect(error?.response?.body.bytes == Data("ab".utf8))
    }

    @Test("Rule 6: a call that an exchange plugin cancels reaches no plugin inside it")
    func cancelledOnHop() async throws {
        let outer: any PluginType = .exchange(name: "outer") { request, _, send in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await send(request)
        }
        let inner: any PluginType = .exchange(name: "inner") { [journal] request, _, _ in
            journal.add("inner")
            return PipelineResponse(request: request, statusCode: 200)
        }
        let provider = provider(ScriptedTransport([]), outer, inner)
        let call = Task { try await provider.request(TestTarget()).statusCode }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(journal.entries.isEmpty)
    }

    @Test("Rule 9: observers see a failure if a body ends because its reader is cancelled")
    func cancelledReading() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Never.self)
        let transport = ScriptedTransport { _, _ in
            .status(
                200,
                body: .stream(
                    AsyncStream<Data>(unfolding: {
                        begin.finish()
                        let never = AsyncStream<Never> { _ in }
                        for await _ in never {}
                        return nil
                    })
                )
            )
        }
        let passing: any PluginType = .exchange { request, _, send in try await send(request) }
        let call = Task { [self] in try await provider(transport, observer, passing).request(TestTarget()) }
        for await _ in begun {}
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(journal.entries.last == "got cancelled")
    }
}

extension AsyncStream<Data> {
    /// These pieces followed by those of a body.
    fileprivate func joined(_ body: PipelineBody) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            Task {
                do {
                    for await piece in self { continuation.yield(piece) }
                    for try await piece in body.chunks() { continuation.yield(piece) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
        }
    }
}
