public import Pipeline

/// The conformance suite for plugins: rules that every plugin follows.
///
/// Each check sends calls through a ``Pipeline/Provider`` with the plugin, a scripted transport and a manual clock, which
/// advances whenever a call waits for it.
///
/// ```swift
/// @Test("MyPlugin does what every plugin has to do")
/// func conformance() async {
///     let violations = await PluginConformance { MyPlugin() }.run()
///     #expect(violations.isEmpty, "\(violations)")
/// }
/// ```
///
/// | check | what it says |
/// |---|---|
/// | `stages` | the plugin takes part in at least one stage; the other checks need that |
/// | `name` | its name is not blank |
/// | `success` | a call that the transport answers with 200 ends in a response |
/// | `failure` | a call whose transport fails ends, and not as cancelled |
/// | `serverError` | a call that is answered with 500 ends, and not as cancelled |
/// | `cancellation` | a cancelled call ends at once in `CancellationError`, and the next call works |
/// | `stream` | a streamed body is handed on while it arrives, whole and in order |
/// | `download` | a body that is written to a file arrives there whole |
/// | `finish` | each call, also a cancelled one and a stream that is released unread, reaches `didFinish` once, before its caller has the result |
/// | `pairs` | when a call has ended, none of its exchanges goes on: each willSend has had its didReceive |
/// | `exchange` | its exchange stage reads no body to its end, and adds no secret field after a redirect to another origin |
/// | `concurrency` | of 64 calls at once each gets its own answer |
/// | `secrets` | no error shows a header value, a query value or a body, as text or in `dump` |
///
/// The targets ask for an access token, so that plugins which look for that take part. A plugin that answers by itself or
/// changes bodies fits where it leaves these targets alone.
///
/// **Effects**: each check has a plugin of its own. A call that does not end although it was cancelled is left behind.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `patience` | 180 s, in real time, in which nothing happens to a call; only calls that do not end wait for it |
public struct PluginConformance: Sendable {
    private let patience: Duration
    private let makePlugin: @Sendable () -> any PluginType

    /// Creates a suite.
    ///
    /// - Parameters:
    ///   - patience: the time without progress after which a call counts as hung, more than zero; defaults to 180 s.
    ///   - makePlugin: makes a plugin, or a stack, for each check.
    public init(patience: Duration = .seconds(180), makePlugin: @escaping @Sendable () -> any PluginType) {
        precondition(patience > .zero, "patience is \(patience), not more than zero")
        self.patience = patience
        self.makePlugin = makePlugin
    }

    /// The names of the checks, in the order in which they run.
    var checkNames: [String] { ["stages"] + PluginCheck.all.map(\.name) }

    /// Runs all checks, one after the other.
    ///
    /// - Returns: the violations; empty for a plugin that conforms.
    public func run() async -> [ConformanceViolation] {
        guard Self.takesPart(makePlugin()) else {
            return [ConformanceViolation(check: "stages", message: "it conforms to none of the protocols in Stage")]
        }
        var violations: [ConformanceViolation] = []
        for check in PluginCheck.all {
            let bench = PluginBench(plugin: makePlugin(), patience: patience)
            violations += await check.run(bench).map { ConformanceViolation(check: check.name, message: $0) }
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
