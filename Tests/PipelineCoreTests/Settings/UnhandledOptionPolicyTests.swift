import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite(
    "ProviderConfiguration.UnhandledOptionPolicy: options whose plugin is not in the stack",
    .tags(.concurrent),
    .watched
)
struct UnhandledOptionPolicyTests {
    private static let options = RequestOptions { $0.depth = 3 }
    private static let message =
        "the option depth has no effect because no plugin of Provider<SampleTarget> handles it; "
        + "add DepthPlugin, or conform the plugin that handles it to OptionHandling"

    // MARK: Warnings

    @Test("A provider warns once per option and sends the requests")
    func warnsOnce() async throws {
        let bench = Bench()
        for _ in 0..<3 { _ = try await bench.provider.request(SampleTarget(), options: Self.options) }
        #expect(bench.messages == [Self.message])
        var both = Self.options
        both.width = 4
        _ = try await bench.provider.request(SampleTarget(), options: both)
        #expect(bench.messages.count == 2)
        #expect(bench.messages.last?.hasPrefix("the option width has no effect") == true)
        #expect(bench.transport.sent.count == 4)
    }

    @Test("Each provider warns separately")
    func eachProvider() async throws {
        let messages = Messages()
        for _ in 0..<2 {
            let bench = Bench(messages: messages)
            _ = try await bench.provider.request(SampleTarget(), options: Self.options)
        }
        #expect(messages.all == [Self.message, Self.message])
    }

    @Test("Concurrent calls warn once")
    func concurrent() async throws {
        let bench = Bench()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask { _ = try await bench.provider.request(SampleTarget(), options: Self.options) }
            }
            try await group.waitForAll()
        }
        #expect(bench.messages == [Self.message])
        #expect(bench.transport.sent.count == 200)
    }

    @Test("The default writes one line to standard error")
    func standardError() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let provider = Provider<SampleTarget>(transport: ScriptedTransport(always: .status(200)))
            for _ in 0..<2 { _ = try await provider.request(SampleTarget(), options: RequestOptions { $0.depth = 3 }) }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.components(separatedBy: "warning: \(Self.message)\n").count == 2, "\(text)")
    }

    @Test("The policy .ignore sends the request")
    func ignored() async throws {
        let bench = Bench(.ignore)
        _ = try await bench.provider.request(SampleTarget(), options: Self.options)
        #expect(bench.transport.sent.count == 1)
    }

    // MARK: Failures

    @Test("The policy .fail ends the call before anything is sent and names the option and the plugin")
    func fails() async throws {
        let bench = Bench(.fail)
        let error = try await bench.failure(SampleTarget(), Self.options)
        #expect(error.code == .invalidRequest(.option))
        #expect(error.reason == Self.message)
        #expect(error.request?.host == "example.com")
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("A failure lists all unhandled options")
    func failsForAll() async throws {
        var both = Self.options
        both.width = 4
        let error = try await Bench(.fail).failure(SampleTarget(), both)
        #expect(error.reason.hasPrefix(Self.message + "; the option width has no effect"))
    }

    @Test("process and didFinish see the failure, and no other stage runs")
    func stages() async throws {
        let seen = Messages()
        let plugins: [any PluginType] = [
            .prepare { _, _ in seen.add("prepare") },
            .intercept { request, _, next in
                seen.add("intercept")
                return try await next(request)
            },
            .process { result, _ in
                if case .failure(let error) = result { seen.add("process \(error.code)") }
            },
            .didFinish { outcome, _ in
                seen.add("didFinish \(outcome.error?.code.rawValue ?? "") \(outcome.attemptCount)")
            },
        ]
        _ = try await Bench(.fail, plugins: plugins).failure(SampleTarget(), Self.options)
        #expect(seen.all == ["process invalidRequest.option", "didFinish invalidRequest.option 0"])
    }

    @Test("The error does not show the option's value")
    func secrets() async throws {
        let options = RequestOptions { $0.width = 271_828 }
        let error = try await Bench(.fail).failure(SampleTarget(), options)
        #expect(!"\(error)\(error.reason)".contains("271828"))
    }

    // MARK: What needs a plugin

    @Test("A value without effect needs no plugin, and neither does an option without one", arguments: [0, 1])
    func askingForNothing(depth: Int) async throws {
        let bench = Bench(.fail)
        let options = RequestOptions {
            $0.depth = depth
            $0[SampleOption.self] = "other"
            $0.attemptTimeout = .seconds(5)
            $0.idleTimeout = .seconds(5)
        }
        guard depth > 0 else {
            _ = try await bench.provider.request(SampleTarget(), options: options)
            return
        }
        #expect(try await bench.failure(SampleTarget(), options).code == .invalidRequest(.option))
    }

    @Test("A target's option counts unless the call overrides it with a value without effect")
    func targetOptions() async throws {
        let bench = Bench(.fail)
        let target = try SampleTarget { $0.options = Self.options }
        #expect(try await bench.failure(target, RequestOptions()).reason == Self.message)
        #expect(try await bench.failure(target, RequestOptions { $0.width = 1 }).reason.hasPrefix(Self.message + "; "))
        _ = try await bench.provider.request(target, options: RequestOptions { $0.depth = 0 })
        let other = try SampleTarget { $0.options = RequestOptions { $0.attemptTimeout = .seconds(1) } }
        #expect(try await bench.failure(other, Self.options).reason == Self.message)
    }

    @Test("The option of a target in a MultiTarget also counts")
    func multiTarget() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<MultiTarget>(transport: transport, configuration: .init(unhandledOptions: .fail))
        let target = try SampleTarget { $0.options = Self.options }
        let error = try await #require(throws: PipelineError.self) { _ = try await provider.request(target) }
        #expect(error.reason.contains("Provider<MultiTarget>"))
        #expect(transport.sent.isEmpty)
    }

    @Test("An option reset to its default leaves nothing to handle")
    func setBack() async throws {
        var options = Self.options
        options.depth = 0
        _ = try await Bench(.fail).provider.request(SampleTarget(), options: options)
    }

    @Test("Any plugin that declares an option handles it, wherever it is in the stack")
    func strangersPlugin() async throws {
        let bench = Bench(.fail, plugins: [.prepare { _, _ in }, StrangersPlugin(), .prepare { _, _ in }])
        _ = try await bench.provider.request(SampleTarget(), options: Self.options)
        let error = try await bench.failure(SampleTarget(), RequestOptions { $0.width = 1 })
        #expect(error.reason.hasPrefix("the option width has no effect"))
    }

    @Test("Streams and event subscriptions are also checked")
    func streams() async throws {
        let bench = Bench(.fail)
        await #expect(throws: PipelineError.self) {
            _ = try await bench.provider.stream(SampleTarget(), options: Self.options)
        }
        await #expect(throws: PipelineError.self) {
            for try await _ in bench.provider.serverSentEvents(try SampleTarget(), options: Self.options) {}
        }
        #expect(bench.transport.sent.isEmpty)
    }
}

private enum Depth: RequestOptions.Key {
    static let defaultValue = 0

    static func pluginOption(for value: Int) -> RequestOptions.PluginOption? { value > 0 ? .depth : nil }
}

private enum Width: RequestOptions.Key {
    static let defaultValue: Int? = nil

    static func pluginOption(for value: Int?) -> RequestOptions.PluginOption? { value.map { _ in .width } }
}

extension RequestOptions {
    fileprivate var depth: Int {
        get { self[Depth.self] }
        set { self[Depth.self] = newValue }
    }

    fileprivate var width: Int? {
        get { self[Width.self] }
        set { self[Width.self] = newValue }
    }
}

extension RequestOptions.PluginOption {
    fileprivate static let depth = Self("depth", of: "DepthPlugin")
    fileprivate static let width = Self("width", of: "WidthPlugin")
}

private struct StrangersPlugin: Stage.Prepare, OptionHandling {
    var handledOptions: [RequestOptions.PluginOption] { [.depth] }

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {}
}

/// The reported messages, in order.
private final class Messages: Sendable {
    private let list = Mutex<[String]>([])

    var all: [String] { list.withLock { $0 } }

    func add(_ message: String) { list.withLock { $0.append(message) } }
}

/// A provider that records its warnings.
private struct Bench {
    let transport = ScriptedTransport(always: .status(200))
    let provider: Provider<SampleTarget>
    private let kept: Messages

    var messages: [String] { kept.all }

    init(
        _ policy: ProviderConfiguration.UnhandledOptionPolicy? = nil,
        plugins: [any PluginType] = [],
        messages: Messages = Messages()
    ) {
        kept = messages
        provider = Provider(
            transport: transport,
            plugins: plugins,
            configuration: .init(unhandledOptions: policy ?? .warn { messages.add($0) })
        )
    }

    func failure(_ target: SampleTarget, _ options: RequestOptions) async throws -> PipelineError {
        try await #require(throws: PipelineError.self) { _ = try await provider.request(target, options: options) }
    }
}
