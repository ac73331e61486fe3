/// A plugin made from a closure, for the prepare stage.
public struct PreparePlugin: Stage.Prepare, CapabilityDeclaring {
    /// The name in errors and in `explain()`.
    public let name: String
    /// What the closure does.
    public let capabilities: Set<PluginCapability>
    private let body: @Sendable (inout PipelineRequest, PipelineContext) async throws -> Void

    init(
        name: String,
        capabilities: Set<PluginCapability>,
        body: @escaping @Sendable (inout PipelineRequest, PipelineContext) async throws -> Void
    ) {
        self.name = name
        self.capabilities = capabilities
        self.body = body
    }

    /// Runs the closure.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try await body(&request, context)
    }
}

/// A plugin made from a closure, for the willSend stage.
public struct WillSendPlugin: Stage.WillSend {
    /// The name in errors and in `explain()`.
    public let name: String
    private let body: @Sendable (PipelineRequest, PipelineContext) -> Void

    init(name: String, body: @escaping @Sendable (PipelineRequest, PipelineContext) -> Void) {
        self.name = name
        self.body = body
    }

    /// Runs the closure.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        body(request, context)
    }
}

/// A plugin made from a closure, for the didReceive stage.
public struct DidReceivePlugin: Stage.DidReceive {
    /// The name in errors and in `explain()`.
    public let name: String
    private let body: @Sendable (Result<PipelineResponse, PipelineError>, PipelineContext) -> Void

    init(name: String, body: @escaping @Sendable (Result<PipelineResponse, PipelineError>, PipelineContext) -> Void) {
        self.name = name
        self.body = body
    }

    /// Runs the closure.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        body(result, context)
    }
}

/// A plugin made from a closure, for the process stage.
public struct ProcessPlugin: Stage.Process, CapabilityDeclaring {
    /// The name in errors and in `explain()`.
    public let name: String
    /// What the closure does.
    public let capabilities: Set<PluginCapability>
    private let body: @Sendable (inout Result<PipelineResponse, PipelineError>, PipelineContext) async -> Void

    init(
        name: String,
        capabilities: Set<PluginCapability>,
        body: @escaping @Sendable (inout Result<PipelineResponse, PipelineError>, PipelineContext) async -> Void
    ) {
        self.name = name
        self.capabilities = capabilities
        self.body = body
    }

    /// Runs the closure.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        await body(&result, context)
    }
}

/// A plugin made from a closure, for the didFinish stage.
public struct DidFinishPlugin: Stage.DidFinish {
    /// The name in errors and in `explain()`.
    public let name: String
    private let body: @Sendable (Stage.Outcome, PipelineContext) -> Void

    init(name: String, body: @escaping @Sendable (Stage.Outcome, PipelineContext) -> Void) {
        self.name = name
        self.body = body
    }

    /// Runs the closure.
    public func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        body(outcome, context)
    }
}

/// A plugin made from a closure, for the intercept stage.
public struct InterceptPlugin: Stage.Intercept, CapabilityDeclaring {
    /// The name in errors and in `explain()`.
    public let name: String
    /// What the closure does.
    public let capabilities: Set<PluginCapability>
    private let body: @Sendable (PipelineRequest, PipelineContext, Next) async throws -> PipelineResponse

    init(
        name: String,
        capabilities: Set<PluginCapability>,
        body: @escaping @Sendable (PipelineRequest, PipelineContext, Next) async throws -> PipelineResponse
    ) {
        self.name = name
        self.capabilities = capabilities
        self.body = body
    }

    /// Runs the closure.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Next
    ) async throws -> PipelineResponse {
        try await body(request, context, next)
    }
}

/// A plugin made from a closure, for the exchange stage.
public struct ExchangePlugin: Stage.Exchange, CapabilityDeclaring {
    /// The name in errors and in `explain()`.
    public let name: String
    /// What the closure does.
    public let capabilities: Set<PluginCapability>
    private let body: @Sendable (PipelineRequest, PipelineContext, Stage.Send) async throws -> PipelineResponse

    init(
        name: String,
        capabilities: Set<PluginCapability>,
        body: @escaping @Sendable (PipelineRequest, PipelineContext, Stage.Send) async throws -> PipelineResponse
    ) {
        self.name = name
        self.capabilities = capabilities
        self.body = body
    }

    /// Runs the closure.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        try await body(request, context, send)
    }
}

extension PluginType where Self == PreparePlugin {
    /// A one-off plugin that changes the request.
    public static func prepare(
        name: String = "prepare closure",
        capabilities: Set<PluginCapability> = [],
        _ body: @escaping @Sendable (inout PipelineRequest, PipelineContext) async throws -> Void
    ) -> Self {
        PreparePlugin(name: name, capabilities: capabilities, body: body)
    }
}

extension PluginType where Self == WillSendPlugin {
    /// A one-off plugin that sees each request as it is sent.
    public static func willSend(
        name: String = "willSend closure",
        _ body: @escaping @Sendable (PipelineRequest, PipelineContext) -> Void
    ) -> Self {
        WillSendPlugin(name: name, body: body)
    }
}

extension PluginType where Self == DidReceivePlugin {
    /// A one-off plugin that sees what the transport produced.
    public static func didReceive(
        name: String = "didReceive closure",
        _ body: @escaping @Sendable (Result<PipelineResponse, PipelineError>, PipelineContext) -> Void
    ) -> Self {
        DidReceivePlugin(name: name, body: body)
    }
}

extension PluginType where Self == ProcessPlugin {
    /// A one-off plugin that changes the result.
    public static func process(
        name: String = "process closure",
        capabilities: Set<PluginCapability> = [],
        _ body: @escaping @Sendable (inout Result<PipelineResponse, PipelineError>, PipelineContext) async -> Void
    ) -> Self {
        ProcessPlugin(name: name, capabilities: capabilities, body: body)
    }
}

extension PluginType where Self == DidFinishPlugin {
    /// A one-off plugin that sees how each call ended.
    public static func didFinish(
        name: String = "didFinish closure",
        _ body: @escaping @Sendable (Stage.Outcome, PipelineContext) -> Void
    ) -> Self {
        DidFinishPlugin(name: name, body: body)
    }
}

extension PluginType where Self == InterceptPlugin {
    /// A one-off plugin that wraps all that is inside it.
    public static func intercept(
        name: String = "intercept closure",
        capabilities: Set<PluginCapability> = [],
        _ body: @escaping @Sendable (PipelineRequest, PipelineContext, Next) async throws -> PipelineResponse
    ) -> Self {
        InterceptPlugin(name: name, capabilities: capabilities, body: body)
    }
}

extension PluginType where Self == ExchangePlugin {
    /// A one-off plugin that wraps the wire for one hop.
    public static func exchange(
        name: String = "exchange closure",
        capabilities: Set<PluginCapability> = [],
        _ body: @escaping @Sendable (PipelineRequest, PipelineContext, Stage.Send) async throws -> PipelineResponse
    ) -> Self {
        ExchangePlugin(name: name, capabilities: capabilities, body: body)
    }
}
