public import PipelineCore

/// A conformance suite that checks the rules for every plugin.
///
/// Each check sends calls through a ``/Pipeline/Provider`` with the plugin, a scripted transport and a manual clock.
/// The clock advances whenever a call waits for it.
///
/// ```swift
/// @Test("MyPlugin does what every plugin has to do")
/// func conformance() async {
///     let violations = await PluginConformance { MyPlugin() }.run()
///     #expect(violations.isEmpty, "\(violations)")
/// }
/// ```
///
/// | check | rule |
/// |---|---|
/// | `stages` | the plugin takes part in at least one stage, which the other checks require |
/// | `name` | the name of the plugin is not blank |
/// | `success` | if the transport responds with 200, the call returns a response |
/// | `failure` | if the transport fails, the call ends, and not as cancelled |
/// | `serverError` | if the transport responds with 500, the call ends, and not as cancelled |
/// | `cancellation` | a cancelled call throws `CancellationError` immediately, and the next call succeeds |
/// | `stream` | a streamed body is passed on as it arrives, complete and in order |
/// | `download` | a body that is written to a file is complete |
/// | `finish` | each call reaches `didFinish` once, before its caller has the result, even if it is cancelled or its stream is released unread |
/// | `pairs` | when a call has ended, none of its exchanges is still running: each willSend has had its didReceive |
/// | `exchange` | the exchange stage reads no body to its end, and adds no secret field after a redirect to another origin |
/// | `resending` | in a streamed call, the body of a response is discarded before the request is sent again |
/// | `concurrency` | each of 64 concurrent calls gets its own response |
/// | `retries` | a plugin that declares `retries` waits neither beyond `context.latestDeadline` nor if `context.isReplayed` is `true` |
/// | `sharing` | a plugin that declares `sharesResponses` sets `context.sharedOutcome`, and shares nothing between identities or if a credential is set inside |
/// | `storing` | a plugin that declares `caches` stores nothing for another identity, if a credential is set inside, or if `context.hasUnverifiedContent` is `true` |
/// | `secrets` | no error shows a header value, a query value or a body, as text or in `dump` |
/// | `clock` | no call waits a tenth of `patience` for anything but `context.clock`, so tests of the plugin need no real time |
///
/// The targets ask for an access token, so plugins that look for such a request take part. A plugin that responds
/// itself or changes bodies can conform only if it leaves these targets alone.
///
/// **Effects**: each check gets a new plugin. If a call does not end after it was cancelled, it is abandoned.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `patience` | 10 s without progress in a call, not counting time in which the machine is too busy for the check; only calls that hang take that long |
public struct PluginConformance: Sendable {
    private let patience: Duration
    private let makePlugin: @Sendable () -> any PluginType

    /// Creates a suite for a plugin or a stack.
    ///
    /// - Parameters:
    ///   - patience: the time without progress after which a call counts as hung, more than zero; defaults to 10 s.
    ///   - makePlugin: returns a new plugin or stack for each check.
    public init(patience: Duration = .seconds(10), makePlugin: @escaping @Sendable () -> any PluginType) {
        precondition(patience > .zero, "patience is \(patience), not more than zero")
        self.patience = patience
        self.makePlugin = makePlugin
    }

    /// The names of the checks, in the order in which they run.
    var checkNames: [String] { ["stages"] + PluginCheck.all.map(\.name) + ["clock"] }

    /// Runs all checks, one after another.
    ///
    /// - Returns: the violations; empty for a plugin that conforms.
    public func run() async -> [ConformanceViolation] {
        guard Self.takesPart(makePlugin()) else {
            return [ConformanceViolation(check: "stages", message: "it conforms to none of the protocols in Stage")]
        }
        var violations: [ConformanceViolation] = []
        var otherWait = Duration.zero
        for check in PluginCheck.all {
            let bench = PluginBench(plugin: makePlugin(), patience: patience)
            violations += await check.run(bench).map { ConformanceViolation(check: check.name, message: $0) }
            otherWait = max(otherWait, bench.otherWait.read { $0 })
        }
        if otherWait >= patience / 10 {
            let message = "a call waited \(otherWait) of real time; wait with context.clock.sleep instead"
            violations.append(ConformanceViolation(check: "clock", message: message))
        }
        return violations
    }

    private static func takesPart(_ plugin: any PluginType) -> Bool {
        PluginStack([plugin]).plugins.contains { plugin in
            plugin is any Stage.Prepare || plugin is any Stage.Intercept || plugin is any Stage.Exchange
                || plugin is any Stage.WillSend || plugin is any Stage.DidReceive || plugin is any Stage.Process
                || plugin is any Stage.DidFinish
        }
    }
}
