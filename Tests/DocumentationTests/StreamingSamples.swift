import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Streaming; the lines that they print are collected.
enum StreamingSamples {
    @TaskLocal static var output: Output?

    enum Feed: TargetType {
        case export
        case log
        case prices
        case reply(to: String)
        case news

        var baseURL: URL { Endpoint.url("https://feed.example") }
        var path: String { "feed" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    struct Price: Decodable {
        let amount: Int
    }

    struct Token: Decodable {
        let text: String
    }

    struct News: Decodable {
        let title: String
    }

    static func pieces(_ provider: Provider<Feed>, _ file: inout Data) async throws {
        // sample: pieces
        let response = try await provider.stream(Feed.export)
        for try await piece in response.body {
            file.append(piece)
        }
        // end
    }

    static func lines(_ provider: Provider<Feed>, show: (Price) -> Void) async throws {
        // sample: lines
        for try await line in try await provider.stream(Feed.log).lines() {
            print(line)
        }
        for try await price in try await provider.stream(Feed.prices).jsonLines(as: Price.self) {
            show(price)
        }
        // end
    }

    static func reply(_ provider: Provider<Feed>, question: String, append: (Token) -> Void) async throws {
        // sample: events
        for try await event in try await provider.stream(Feed.reply(to: question)).serverSentEvents() {
            append(try event.map(Token.self))
        }
        // end
    }

    static func subscription(_ provider: Provider<Feed>, _ bookmark: inout String, show: (News) -> Void) async throws {
        // sample: subscription
        let news = provider.serverSentEvents(Feed.news, lastEventID: bookmark)
        for try await event in news {
            show(try event.map(News.self))
            bookmark = news.lastEventID
        }
        // end
    }

    static func notices(
        _ provider: Provider<Feed>,
        _ bookmark: inout String,
        show: (News) -> Void,
        showBanner: (String) -> Void,
        hideBanner: () -> Void
    ) async throws {
        // sample: notices
        let news = provider.serverSentEvents(Feed.news, lastEventID: bookmark)
        for try await notice in news.notices {
            if let event = notice.event { show(try event.map(News.self)) }
            if notice.response != nil { hideBanner() }
            if let wait = notice.reconnection { showBanner("Offline, trying in \(wait.delay)") }
            bookmark = news.lastEventID
        }
        // end
    }

    static func policy(
        _ provider: Provider<Feed>
    ) -> (
        policy: ServerSentEvent.ReconnectionPolicy, events: ServerSentEvent.Subscription,
        once: ServerSentEvent.Subscription
    ) {
        // sample: policy
        // nil: no limit on failed attempts
        let patient = ServerSentEvent.ReconnectionPolicy(maximumFailedAttempts: nil) { error in
            ServerSentEvent.ReconnectionPolicy.isNetworkFailure(error) || error.response?.statusCode == 503
        }
        let events = provider.serverSentEvents(Feed.news, reconnection: patient)
        let once = provider.serverSentEvents(Feed.news, reconnection: .never)
        // end
        return (patient, events, once)
    }

    static func idle(_ provider: Provider<Feed>) -> ServerSentEvent.Subscription {
        // sample: idle
        let alive = provider.serverSentEvents(Feed.news, options: .init { $0.idleTimeout = .seconds(45) })
        // end
        return alive
    }

    // sample: upload of a stream
    struct Upload: TargetType {
        let readings: AsyncStream<Data>

        var baseURL: URL { Endpoint.url("https://feed.example") }
        var path: String { "readings" }
        var method: HTTPMethod { .post }
        var task: RequestTask { .requestStream(.stream(readings)) }
        var validationType: ValidationType { .successCodes }
    }
    // end

    static func upload(
        _ readings: AsyncStream<Data>,
        _ provider: Provider<MultiTarget>
    ) async throws -> PipelineResponse {
        // sample: upload of a stream
        let response = try await provider.request(Upload(readings: readings))
        // end
        return response
    }

    static func parse() throws {
        // sample: parser
        var parser = ServerSentEvent.Parser()
        parser.append(Data("event: price\ndata: 42\n\n".utf8))
        while let event = try parser.next() { print(event.type, event.data) }
        // end
    }
}

/// Hides the standard library's `print` in this file, so it has the same parameters.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    StreamingSamples.output?.add(items.map { "\($0)" }.joined(separator: separator) + terminator)
}

@Suite("The guide Streaming", .watched)
struct StreamingSamplesTests {
    private let clock = ManualClock()

    private func provider(_ transport: ScriptedTransport) -> Provider<StreamingSamples.Feed> {
        Provider(transport: transport, configuration: .init(clock: clock))
    }

    private func events(_ text: String) -> ScriptedTransport.Step {
        .status(200, headers: [.contentType: "text/event-stream"], body: text)
    }

    private func lastEventIDs(_ transport: ScriptedTransport) throws -> [String?] {
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        return transport.sent.map { $0.headers[name] }
    }

    @Test("The pieces of a response make up its body")
    func pieces() async throws {
        let body = AsyncStream<Data> { pieces in
            pieces.yield(Data("ab".utf8))
            pieces.yield(Data("cd".utf8))
            pieces.finish()
        }
        var file = Data()
        let transport = ScriptedTransport([.status(200, body: .stream(body))])
        try await StreamingSamples.pieces(provider(transport), &file)
        #expect(file == Data("abcd".utf8))
    }

    @Test("Lines are printed, and JSON Lines are decoded")
    func lines() async throws {
        let transport = ScriptedTransport([
            .status(200, body: "one\ntwo"), .status(200, body: "{\"amount\": 1}\n{\"amount\": 2}\n"),
        ])
        let output = Output()
        var amounts: [Int] = []
        try await StreamingSamples.$output.withValue(output) {
            try await StreamingSamples.lines(provider(transport)) { amounts.append($0.amount) }
        }
        #expect(output.text == "one\ntwo\n")
        #expect(amounts == [1, 2])
    }

    @Test("A stream of readings is sent as the body of the request")
    func upload() async throws {
        let readings = AsyncStream<Data> { pieces in
            pieces.yield(Data("1 ".utf8))
            pieces.yield(Data("2".utf8))
            pieces.finish()
        }
        let echo = ScriptedTransport.Step.answer { request, _ in
            PipelineResponse(request: request, statusCode: 200, data: try await request.body.collect(upTo: 100))
        }
        let provider = Provider<MultiTarget>(transport: ScriptedTransport([echo]))
        #expect(try await StreamingSamples.upload(readings, provider).mapString() == "1 2")
    }

    @Test("The events of one response are decoded, and an incomplete event at the end is dropped")
    func reply() async throws {
        let transport = ScriptedTransport([
            events("data: {\"text\": \"Hel\"}\n\n: comment\ndata: {\"text\": \"lo\"}\n\ndata: {")
        ])
        var text = ""
        try await StreamingSamples.reply(provider(transport), question: "?") { text += $0.text }
        #expect(text == "Hello")
    }

    @Test("A subscription reconnects after the last event, and ends with a 204")
    func subscription() async throws {
        let transport = ScriptedTransport([
            events("id: 7\ndata: {\"title\": \"a\"}\n\n"),
            events("id: 8\n\ndata: {\"title\": \"b\"}\n\n"), .status(204),
        ])
        let provider = provider(transport)
        let reading = Task {
            var (bookmark, titles) = ("6", [String]())
            try await StreamingSamples.subscription(provider, &bookmark) { titles.append($0.title) }
            return (bookmark, titles)
        }
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        let (bookmark, titles) = try await reading.value
        #expect(bookmark == "8")
        #expect(titles == ["a", "b"])
        #expect(try lastEventIDs(transport) == ["6", "7", "8"])
    }

    @Test("The notices show a banner while the subscription waits, and hide it when a stream opens")
    func notices() async throws {
        let transport = ScriptedTransport([
            events("id: 7\ndata: {\"title\": \"a\"}\n\n"), events("id: 8\n\n"), .status(204),
        ])
        let provider = provider(transport)
        let reading = Task {
            var (bookmark, log) = ("", [String]())
            try await StreamingSamples.notices(
                provider,
                &bookmark,
                show: { log.append($0.title) },
                showBanner: { log.append($0) },
                hideBanner: { log.append("hide") }
            )
            return (bookmark, log)
        }
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        try await clock.advanceToNextSleeper()
        let (bookmark, log) = try await reading.value
        #expect(bookmark == "8")
        #expect(log.prefix(4) == ["hide", "a", "Offline, trying in 3.0 seconds", "hide"])
        #expect(log.count == 5)
    }

    @Test("The patient policy reconnects after a 503 and after network failures")
    func patience() throws {
        let patient = StreamingSamples.policy(provider(ScriptedTransport([]))).policy
        let request = try PipelineRequest(url: "https://feed.example")
        func failure(_ code: PipelineError.Code, _ status: Int) -> PipelineError {
            PipelineError(code, "by test", response: PipelineResponse(request: request, statusCode: status))
        }
        #expect(patient.shouldReconnect(failure(.unacceptableStatus, 503)))
        #expect(patient.shouldReconnect(failure(.connectionLost, 200)))
        #expect(!patient.shouldReconnect(failure(.unacceptableStatus, 404)))
        #expect(patient.maximumFailedAttempts == nil)
    }

    @Test("With the policy never, the events end with the stream")
    func never() async throws {
        let transport = ScriptedTransport([events("data: 1\n\ndata: 2\n\n")])
        var data: [String] = []
        for try await event in StreamingSamples.policy(provider(transport)).once { data.append(event.data) }
        #expect(data == ["1", "2"])
        #expect(transport.sent.count == 1)
    }

    @Test("The idle timeout of a subscription applies to each of its calls")
    func idle() async throws {
        let step = ScriptedTransport.Step.answer { request, context in
            let isSet = context.options.idleTimeout == .seconds(45)
            return PipelineResponse(request: request, statusCode: isSet ? 204 : 400)
        }
        for try await _ in StreamingSamples.idle(provider(ScriptedTransport([step]))) {}
    }

    @Test("The parser reads an event without a network, as the guide shows")
    func parser() throws {
        let output = Output()
        try StreamingSamples.$output.withValue(output) { try StreamingSamples.parse() }
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/Streaming.md")
        let blocks = Markdown(try String(contentsOf: page, encoding: .utf8)).blocks(in: "text")
        #expect(blocks.contains { $0 + "\n" == output.text }, "\(output.text)")
    }
}
