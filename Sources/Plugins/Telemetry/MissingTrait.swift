#if !Telemetry
public import HTTPTypes
public import PipelineCore

// Without the trait, a use does not compile, and the error says what is missing.

/// Unavailable: needs the package trait `Telemetry`.
public struct MetricsPlugin: PluginType {
    /// Unavailable: needs the package trait `Telemetry`.
    @available(*, unavailable, message: "add traits: [\"Telemetry\"] to .package(…) of Pipeline in Package.swift")
    public init(
        prefix: String = "pipeline.",
        maximumHostCount: Int = 20,
        knownMethods: Set<HTTPRequest.Method> = [],
        showsTarget: Bool = false,
        maximumSeriesCount: Int = 1_000
    ) {}
}

/// Unavailable: needs the package trait `Telemetry`.
public struct TracingPlugin: PluginType {
    /// Unavailable: needs the package trait `Telemetry`.
    public struct Propagation: PluginType {
        /// Unavailable: needs the package trait `Telemetry`.
        @available(*, unavailable, message: "add traits: [\"Telemetry\"] to .package(…) of Pipeline in Package.swift")
        public init() {}
    }

    /// Unavailable: needs the package trait `Telemetry`.
    @available(*, unavailable, message: "add traits: [\"Telemetry\"] to .package(…) of Pipeline in Package.swift")
    public init(redactor: Redactor = .standard, knownMethods: Set<HTTPRequest.Method> = []) {}
}

extension StandardPart {
    /// Unavailable: needs the package trait `Telemetry`.
    @available(*, unavailable, message: "add traits: [\"Telemetry\"] to .package(…) of Pipeline in Package.swift")
    public static var telemetry: StandardPart { StandardPart([:]) }
}
#endif
