/// Plugins for the standard stack, each in its slot.
///
/// The products of this package and others add parts as static members:
///
/// ```swift
/// extension StandardPart {
///     static var audit: StandardPart { StandardPart([.credentials: [AuditPlugin()]]) }
/// }
/// let provider = Provider<Shop>(transport: transport, plugins: [.standard(.audit, .cache())])
/// ```
///
/// The slots order the plugins, whatever the order of the parts.
public struct StandardPart: Sendable {
    /// A place in the standard stack.
    ///
    /// Each slot is inside those before it in this list.
    public enum Slot: Int, Sendable, Hashable, CaseIterable {
        /// What measures or traces whole calls.
        case telemetry
        /// The log, which sees how each call ends and decoded bodies.
        case log
        /// What delays the result of a call, and not of each attempt.
        case minimumDuration
        /// What responds in place of a call that has failed in spite of all else.
        case fallback
        /// Limits of attempts and of the whole call.
        case timeouts
        /// One id for all attempts.
        case requestID
        /// What uses a stale response after the last attempt.
        case staleFallback
        /// Retries: each attempt gets fresh credentials.
        case retries
        /// Copies of requests, which are not retried.
        case hedging
        /// Credentials and other header fields.
        case credentials
        /// Cookies, inside the credentials, so that they include those of a challenge.
        case cookies
        /// Stored responses, inside credentials and cookies, so that no two users share one.
        case cache
        /// What refuses requests to a server that fails; the cache responds nevertheless.
        case breaker
        /// What holds back requests within a quota, before they take a permit.
        case rateLimit
        /// Permits, which are held only during an exchange.
        case concurrencyLimit
        /// Fields that are sent with each exchange and signed, such as those of a trace.
        case propagation
        /// Signatures over the request as it is sent.
        case signing
        /// Sharing of equal requests, inside the credentials, so that no two users share a response.
        case deduplication
        /// Compression, inside the sharing, so that a shared response is decoded once.
        case compression
    }

    /// The plugins by slot, outermost first.
    public let plugins: [Slot: PluginStack]
    private let isReplaceable: Bool

    /// Makes a part.
    ///
    /// - Parameter plugins: the plugins by slot, outermost first. They take the place of the stack's own plugin in that
    ///   slot; an empty stack removes it.
    public init(_ plugins: [Slot: PluginStack]) {
        self.plugins = plugins
        isReplaceable = false
    }

    /// Makes a part whose plugins other parts replace, each in its slot, such as `resilient`.
    ///
    /// - Parameter plugins: the plugins by slot, outermost first.
    public init(replaceable plugins: [Slot: PluginStack]) {
        self.plugins = plugins
        isReplaceable = true
    }

    /// Returns the plugins of a slot.
    fileprivate static func plugins(in slot: Slot, of parts: [StandardPart]) -> [any PluginType] {
        let parts = parts.filter { $0.plugins[slot] != nil }
        let chosen = parts.filter { !$0.isReplaceable }
        return (chosen.isEmpty ? Array(parts.suffix(1)) : chosen).flatMap { $0.plugins[slot]?.plugins ?? [] }
    }
}

extension PluginStack {
    /// Makes a stack from parts, in the order of their slots.
    ///
    /// - Parameter parts: the parts; plugins of one slot are in the order of the parts. Of parts whose plugins are
    ///   replaceable, the last one counts.
    public init(_ parts: [StandardPart]) {
        self.init(StandardPart.Slot.allCases.flatMap { StandardPart.plugins(in: $0, of: parts) })
    }
}
