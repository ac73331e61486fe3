import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The samples of the guide GettingStarted", .watched)
struct GettingStartedTestSamples {
    private typealias GitHub = GettingStartedSamples.GitHub
    private typealias Repository = GettingStartedSamples.Repository
    private let body = #"{"forks": 7}"#

    private func makeProvider(transport: any Transport) -> Provider<GitHub> {
        GettingStartedSamples.plugins(transport)
    }

    // sample: test
    @Test("A repository is decoded")
    func repository() async throws {
        let provider = makeProvider(transport: StubTransport())
        let repository = try await provider.request(.repository("swiftlang/swift"), as: Repository.self)
        #expect(repository.forks == 3)
    }
    // end

    @Test("A missing repository is an error")
    func missingRepository() async throws {
        let transport = ScriptedTransport([.status(404)])
        let provider = makeProvider(transport: transport)
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(.repository("swiftlang/none"), as: Repository.self)
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(transport.sent.map(\.path) == ["/repos/swiftlang/none"])
    }

    @Test("The call with a URL and the call with a target send the same request and print the same line")
    func calls() async throws {
        let transport = ScriptedTransport(always: .status(200, body: body))
        let output = Output()
        try await GettingStartedSamples.$output.withValue(output) {
            try await GettingStartedSamples.firstCall(Provider(transport: transport))
            try await GettingStartedSamples.targetCall(Provider(transport: transport))
        }
        #expect(output.text == "7 forks\n7 forks\n")
        let request = "GET api.github.com/repos/swiftlang/swift"
        #expect(transport.sent.map { "\($0.method) \($0.host ?? "")\($0.path)" } == [request, request])
    }

    @Test("The guide shows what the caught error prints")
    func caught() async throws {
        let output = Output()
        try await GettingStartedSamples.$output.withValue(output) {
            try await GettingStartedSamples.caughtCall(makeProvider(transport: ScriptedTransport([.status(404)])))
        }
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let guide = folder.appending(path: "../../Documentation/GettingStarted.md")
        #expect(try String(contentsOf: guide, encoding: .utf8).contains("```text\n\(output.text)```"), "\(output.text)")
    }

    @Test("A call that does not decode returns the response")
    func response() async throws {
        let output = Output()
        let transport = ScriptedTransport([.status(200, headers: [.contentType: "application/json"], body: body)])
        try await GettingStartedSamples.$output.withValue(output) {
            try await GettingStartedSamples.responseCall(Provider(transport: transport))
        }
        #expect(output.text == "200 application/json 12 bytes\n")
    }

    @Test("A search is a query, and an issue a POST of JSON")
    func content() async throws {
        let transport = ScriptedTransport(always: .status(201))
        let provider = makeProvider(transport: transport)
        _ = try await provider.request(.search("http client"))
        _ = try await provider.request(.createIssue(.init(title: "A typo"), in: "swiftlang/swift"))
        let sent = transport.sent.map { "\($0.method) \($0.head.path ?? "")" }
        #expect(sent == ["GET /search/repositories?q=http%20client", "POST /repos/swiftlang/swift/issues"])
        #expect(transport.sent.last?.body.bytes == Data(#"{"title":"A typo"}"#.utf8))
    }

    @Test("The options of the call limit an attempt to 5 s")
    func options() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(always: .hang)
        let provider = Provider<GitHub>(transport: transport, configuration: .init(clock: clock))
        let call = Task { try await GettingStartedSamples.optionsCall(provider).forks }
        #expect(try await clock.advanceToNextSleeper() == .seconds(5))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .timeout(.attempt))
    }

    @Test("The provider retries after a 503")
    func retry() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .status(200, body: body)])
        let plugins = makeProvider(transport: transport).plugins
        let provider = Provider<GitHub>(transport: transport, plugins: plugins, configuration: .init(clock: clock))
        let forks = try await clock.run {
            try await provider.request(.repository("swiftlang/swift"), as: Repository.self).forks
        }
        #expect(forks == 7)
        #expect(transport.sent.count == 2)
    }

    @Test("The guide shows the log of a call that is retried")
    func log() async throws {
        let (clock, output) = (ManualClock(), Output())
        let logging = LoggingPlugin(level: .info) { _, line in output.add(line + "\n") }
        let transport = ScriptedTransport([
            .delayed(.milliseconds(212), .status(503)), .delayed(.milliseconds(198), .status(200, body: body)),
        ])
        let provider = Provider<GitHub>(
            transport: transport,
            plugins: [.standard(StandardPart([.log: [logging]]))],
            configuration: .init(clock: clock)
        )
        let forks = try await clock.run {
            try await provider.request(.repository("swiftlang/swift"), as: Repository.self).forks
        }
        #expect(forks == 7)
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/GettingStarted.md")
        let page = Markdown(try String(contentsOf: file, encoding: .utf8))
        #expect(page.blocks(in: "text").contains { $0 + "\n" == output.text }, "\(output.text)")
    }

    @Test("The body of a 404 is not decoded: the call fails with unacceptableStatus")
    func refused() async throws {
        let transport = ScriptedTransport([.status(404, body: #"{"message": "Not Found"}"#)])
        let provider = Provider<Unchecked>(transport: transport)
        let error = await #expect(throws: PipelineError.self) { try await provider.requestDecoded(Unchecked()) }
        #expect(error?.code == .unacceptableStatus)
    }

    /// A target without a validation type.
    private struct Unchecked: DecodableTargetType {
        typealias ResultType = GettingStartedSamples.Repository

        var baseURL: URL { Endpoint.url("https://api.github.com") }
        var path: String { "repos/swiftlang/none" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }
}
