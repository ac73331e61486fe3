extension PipelineContext {
    /// What a plugin did to a call or an exchange, such as making it wait or refusing it.
    public struct Annotation: Sendable, Hashable {
        /// The name of the plugin.
        public let plugin: String
        /// What it did, as one of a few fixed words of the plugin, such as `waited`; never a secret.
        public let event: String
        /// How long it took; `nil` if it took no time.
        public let duration: Duration?
    }
}

extension PipelineContext.Annotation: CustomStringConvertible {
    /// The name of the plugin, the event and the duration.
    public var description: String {
        "\(plugin) \(event)" + (duration.map { " \($0.text)" } ?? "")
    }
}

extension PipelineContext {
    /// Records what a plugin did, for logs, metrics and outcomes.
    ///
    /// ```swift
    /// context.annotate("waited", by: self, duration: .milliseconds(20))
    /// ```
    ///
    /// The annotation becomes a part of ``Stage/Outcome/annotations``, and of ``PipelineExchange/annotations`` of each
    /// exchange of the same attempt and hop. A call keeps the first 100.
    ///
    /// - Parameters:
    ///   - event: what the plugin did, as one of a few fixed words; it must not contain a secret.
    ///   - plugin: the plugin.
    ///   - duration: how long it took; `nil` if it took no time.
    public func annotate(_ event: String, by plugin: any PluginType, duration: Duration? = nil) {
        call.annotate(PipelineContext.Annotation(plugin: plugin.name, event: event, duration: duration), attempt, hop)
    }

    /// What plugins have done to the call so far.
    public var annotations: [PipelineContext.Annotation] { call.annotations }
}
