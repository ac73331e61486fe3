/// What a call spent its time on: its plugins, its waits, and its exchanges with their phases.
///
/// ```swift
/// let provider = Provider<GitHub>(transport: transport, plugins: plugins, configuration: .init(timeline: true))
/// let response = try await provider.request(.zen)
/// if let timeline = response.timeline { print(timeline) }
/// ```
///
/// Calls record a timeline only if ``ProviderConfiguration/timeline`` is `true`; it costs nothing otherwise. The value
/// refers to its call: the timeline of a stream grows until its body ends.
///
/// A timeline has up to 1,000 spans; ``droppedSpanCount`` counts further ones.
///
/// **Secrets**: names of requests have no query and no user information.
public struct Timeline: Sendable {
    /// A part of a call's time.
    public struct Span: Sendable, Hashable, Identifiable {
        /// The number of the span in its timeline; 0 for the whole call.
        public let id: Int
        /// The span that this one is part of; `nil` for the whole call.
        public let parentID: Int?
        /// What the time was spent on.
        public let kind: Kind
        /// The name of the plugin, the request, or the work.
        public let name: String
        /// The attempt of the call, from 1.
        public let attempt: Int
        /// The number of redirects before this hop.
        public let hop: Int
        /// The time from the start of the call to the start of the span.
        public let start: Duration
        /// How long the span took; so far, if it has not ended.
        public let duration: Duration
        /// Whether the span has ended.
        public let hasEnded: Bool
        /// The status, or the code of the error; `nil` for neither.
        public let outcome: String?
    }

    let recorder: TimelineRecorder

    /// The spans in the order of their beginning; the first is the whole call.
    public var spans: [Span] { recorder.spans }

    /// The number of spans that were not recorded, because there were too many.
    public var droppedSpanCount: Int { recorder.droppedSpanCount }
}

extension Timeline.Span {
    /// What a span was spent on.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name of the kind.
        public let rawValue: String
        /// Makes a kind from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The call from its start to its end, with which a timeline begins.
        public static let call = Kind(rawValue: "call")
        /// Making the request from the target, with its body.
        public static let encode = Kind(rawValue: "encode")
        /// Making a value from the response.
        public static let decode = Kind(rawValue: "decode")
        /// An exchange: from the request that is handed to the transport to the end of the response's body.
        public static let wire = Kind(rawValue: "wire")
        /// A part of an exchange, see ``Timeline/Span/name``.
        public static let phase = Kind(rawValue: "phase")
        /// A wait, such as the one before a retry.
        public static let wait = Kind(rawValue: "wait")
        /// Work of a plugin.
        public static let work = Kind(rawValue: "work")

        /// The core between two plugins, in an analysis.
        static let core = Kind(rawValue: "core")
        /// The wait for a piece of a body, in an analysis.
        static let body = Kind(rawValue: "body")

        /// A stage of a plugin; the kind has the name of the stage.
        public static func stage(_ stage: Stage.Kind) -> Kind { Kind(rawValue: stage.rawValue) }
    }
}

extension Timeline: SafelyDescribed {
    /// The spans as a tree, with the start and the duration of each in milliseconds.
    public var description: String {
        let spans = spans
        var children: [Int: [Span]] = [:]
        for span in spans { if let parent = span.parentID { children[parent, default: []].append(span) } }
        var lines = ["   start  duration"]
        func add(_ span: Span, _ depth: Int) {
            let margin = String(repeating: "  ", count: depth)
            let outcome = span.outcome.map { ": \($0)" } ?? ""
            let attempt = span.kind == .wire && span.attempt > 1 ? ", attempt \(span.attempt)" : ""
            let redirect = span.kind == .wire && span.hop > 0 ? ", redirect \(span.hop)" : ""
            let end = span.hasEnded ? "" : " (not ended)"
            let times = Self.milliseconds(span.start) + "  " + Self.milliseconds(span.duration)
            lines.append("\(times)  \(margin)\(span.kind.rawValue) \(span.name)\(attempt)\(redirect)\(outcome)\(end)")
            for child in children[span.id] ?? [] { add(child, depth + 1) }
        }
        if let first = spans.first { add(first, 0) }
        if droppedSpanCount > 0 { lines.append("\(droppedSpanCount) more spans were not recorded") }
        return lines.joined(separator: "\n")
    }

    /// Returns a duration in milliseconds with two decimals, in eight columns.
    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = min(duration, .seconds(1 << 40)).components
        let hundredths = seconds * 100_000 + attoseconds / 10_000_000_000_000
        let decimals = "\(hundredths % 100)"
        let text = "\(hundredths / 100)." + (decimals.count < 2 ? "0" : "") + decimals
        return String(repeating: " ", count: max(0, 8 - text.count)) + text
    }
}
