import Foundation
import Pipeline
import PipelineInspector
import PipelineRecording
import PipelineTesting
import Synchronization
import TestSupport
import Testing

enum InspectTrafficSamples {
    enum Shop: TargetType {
        case cart

        var baseURL: URL { Endpoint.url("https://shop.example") }
        var path: String { "cart" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var sampleData: Data { Data("empty".utf8) }
    }

    struct Limiter {
        func wait() async throws {}
    }

    static func page(_ file: URL) async throws {
        // sample: a page
        let inspector = InspectorPlugin(.file(file))
        let provider = Provider<Shop>(
            transport: StubTransport(),  // URLSessionTransport() for the network
            plugins: [inspector, .standard()],
            configuration: ProviderConfiguration(timeline: true)
        )
        _ = try await provider.request(.cart)
        print("the calls are on", try await inspector.page().path)
        // end
    }

    #if Tools
    static func live() async throws {
        // sample: a live page
        let inspector = InspectorPlugin(.loopback())
        print("open", try await inspector.page())
        // end
    }
    #endif

    static func timeline(_ provider: Provider<Shop>, print: (Timeline) -> Void) async throws {
        // sample: a timeline
        let response = try await provider.request(.cart)
        if let timeline = response.timeline { print(timeline) }
        // end
    }

    static func span(_ limiter: Limiter) -> any PluginType {
        // sample: a span
        let limited = PluginStack.exchange(name: "limit") { request, context, send in
            try await context.recordSpan("rate limit", as: .wait) { try await limiter.wait() }
            return try await send(request)
        }
        // end
        return limited
    }

    final class Lines: Sendable {
        private let kept = Mutex<[String]>([])

        var all: [String] { kept.withLock { $0 } }

        func append(_ line: String) { kept.withLock { $0.append(line) } }
    }

    static func show(_ events: EventsPlugin, _ lines: Lines) async {
        // sample: events
        for await event in events.events() {
            switch event.kind {
            case .began(let request): lines.append("#\(event.callID) \(request)")
            case .exchange(let exchange): lines.append("#\(event.callID) \(exchange)")
            case .finished(let outcome): lines.append("#\(event.callID) \(outcome.kind) after \(outcome.duration)")
            }
        }
        // end
    }
}

@Suite("The samples of the guide Inspect traffic", .watched)
struct InspectTrafficSamplesTests {
    private let clock = ManualClock()

    @Test("The page has the call")
    func page() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("calls.html")
        try await InspectTrafficSamples.page(file)
        #expect(try String(contentsOf: file, encoding: .utf8).contains("https://shop.example/cart"))
    }

    @Test("The timeline is the one in the guide")
    func timeline() async throws {
        let clock = clock
        let transport = ScriptedTransport([
            .answer { request, _ in
                clock.advance(by: .milliseconds(20))
                return PipelineResponse(request: request, statusCode: 503)
            },
            .answer { request, _ in
                clock.advance(by: .milliseconds(30))
                return PipelineResponse(request: request, statusCode: 200)
            },
        ])
        let retry = RetryPlugin(
            policy: RetryPolicy(statusCodes: [503]),
            backoff: .constant(.milliseconds(100)),
            budget: .unlimited
        )
        let provider = Provider<InspectTrafficSamples.Shop>(
            transport: transport,
            plugins: [retry],
            configuration: .init(clock: clock, timeline: true)
        )
        let pump = Task { try await clock.advanceToNextSleeper() }
        var text = ""
        try await InspectTrafficSamples.timeline(provider) { text = $0.description }
        _ = try await pump.value
        let guide = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "../../../Documentation/InspectTraffic.md")
        let page = Markdown(try String(contentsOf: guide, encoding: .utf8))
        #expect(page.blocks(in: "text") == [text])
    }

    @Test("The events of a call are lines, and a plugin's own span is on the timeline")
    func events() async throws {
        let events = EventsPlugin()
        let lines = InspectTrafficSamples.Lines()
        let limited = InspectTrafficSamples.span(InspectTrafficSamples.Limiter())
        let provider = Provider<InspectTrafficSamples.Shop>(
            transport: StubTransport(),
            plugins: [events, limited],
            configuration: .init(clock: clock, timeline: true)
        )
        let reader = Task { await InspectTrafficSamples.show(events, lines) }
        // The reader misses the calls before its first.
        while lines.all.count < 3 {
            let response = try await provider.request(.cart)
            #expect(response.timeline?.spans.contains { $0.kind == .wait && $0.name == "rate limit" } == true)
        }
        reader.cancel()
        await reader.value
        #expect(lines.all.contains { $0.hasSuffix(" success after 0.0 seconds") })
        #expect(lines.all.contains { $0.contains("GET https://shop.example/cart, status 200") })
    }
}
