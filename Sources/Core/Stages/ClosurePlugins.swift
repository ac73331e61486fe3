/// A plugin that runs a closure in the prepare stage.
struct PreparePlugin: Stage.Prepare, CapabilityDeclaring {
    let name: String
    let capabilities: Set<PluginCapability>
    let body: @Sendable (inout PipelineRequest, PipelineContext) async throws -> Void

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try await body(&request, context)
    }
}

/// A plugin that runs a closure in the willSend stage.
struct WillSendPlugin: Stage.WillSend {
    let name: String
    let body: @Sendable (PipelineRequest, PipelineContext) -> Void

    func willSend(_ request: PipelineRequest, context: PipelineContext) {
        body(request, context)
    }
}

/// A plugin that runs a closure in the didReceive stage.
struct DidReceivePlugin: Stage.DidReceive {
    let name: String
    let body: @Sendable (Result<PipelineResponse, PipelineError>, PipelineContext) -> Void

    func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        body(result, context)
    }
}

/// A plugin that runs a closure in the process stage.
struct ProcessPlugin: Stage.Process, CapabilityDeclaring {
    let name: String
    let capabilities: Set<PluginCapability>
    let body: @Sendable (inout Result<PipelineResponse, PipelineError>, PipelineContext) async -> Void

    func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        await body(&result, context)
    }
}

/// A plugin that runs a closure in the didFinish stage.
struct DidFinishPlugin: Stage.DidFinish {
    let name: String
    let body: @Sendable (Stage.Outcome, PipelineContext) -> Void

    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        body(outcome, context)
    }
}

/// A plugin that runs a closure in the intercept stage.
struct InterceptPlugin: Stage.Intercept, CapabilityDeclaring {
    let name: String
    let capabilities: Set<PluginCapability>
    let body: @Sendable (PipelineRequest, PipelineContext, Stage.Next) async throws -> PipelineResponse

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        try await body(request, context, next)
    }
}

/// A plugin that runs a closure in the exchange stage.
struct ExchangePlugin: Stage.Exchange, CapabilityDeclaring {
    let name: String
    let capabilities: Set<PluginCapability>
    let body: @Sendable (PipelineRequest, PipelineContext, Stage.Send) async throws -> PipelineResponse

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        try await body(request, context, send)
    }
}

extension PluginType where Self == PluginStack {
    /// Makes a plugin that changes the request.
    ///
    /// - Parameters:
    ///   - name: the name in errors and in `explain()`.
    ///   - capabilities: what the closure does, for the findings of `explain()`.
    ///   - body: a closure that implements ``Stage/Prepare``.
    /// - Returns: a stack that contains the plugin.
    public static func prepare(
        name: String = "prepare closure",
        capabilities: Set<PluginCapability> = [],
        _ body: @escaping @Sendable (inout PipelineRequest, PipelineContext) async throws -> Void
    ) -> PluginStack {
        PluginStack([PreparePlugin(name: name, capabilities: capabilities, body: body)])
    }

    /// Makes a plugin that observes each request as it is sent.
    ///
    /// - Parameters:
    ///   - name: the name in errors and in `explain()`.
    ///   - body: a closure that implements ``Stage/WillSend``.
    /// - Returns: a stack that contains the plugin.
    public static func willSend(
        name: String = "willSend closure",
        _ body: @escaping @Sendable (PipelineRequest, PipelineContext) -> Void
    ) -> PluginStack {
        PluginStack([WillSendPlugin(name: name, body: body)])
    }

    /// Makes a plugin that observes what the transport delivered.
    ///
    /// - Parameters:
    ///   - name: the name in errors and in `explain()`.
    ///   - body: a closure that implements ``Stage/DidReceive``.
    /// - Returns: a stack that contains the plugin.
    public static func didReceive(
        name: String = "didReceive closure",
        _ body: @escaping @Sendable (Result<PipelineResponse, PipelineError>, PipelineContext) -> Void
    ) -> PluginStack {
        PluginStack([DidReceivePlugin(name: name, body: body)])
    }

    /// Makes a plugin that changes the result of a call.
    ///
    /// - Parameters:
    ///   - name: the name in errors and in `explain()`.
    ///   - capabilities: what the closure does, for the findings of `explain()`.
    ///   - body: a closure that implements ``Stage/Process``.
    /// - Returns: a stack that contains the plugin.
    public static func process(
        name: String = "process closure",
        capabilities: Set<PluginCapability> = [],
        _ body: @escaping @Sendable (inout Result<PipelineResponse, PipelineError>, PipelineContext) async -> Void
    ) -> PluginStack {
        PluginStack([ProcessPlugin(name: name, capabilities: capabilities, body: body)])
    }

    /// Makes a plugin that observes how each call ended.
    ///
    /// - Parameters:
    ///   - name: the name in errors and in `explain()`.
    ///   - body: a closure that implements ``Stage/DidFinish``.
    /// - Returns: a stack that contains the plugin.
    public static func didFinish(
        name: String = "didFinish closure",
        _ body: @escaping @Sendable (Stage.Outcome, PipelineContext) -> Void
    ) -> PluginStack {
        PluginStack([DidFinishPlugin(name: name, body: body)])
    }

    /// Makes a plugin that wraps everything inside it.
    ///
    /// - Parameters:
    ///   - name: the name in errors and in `explain()`.
    ///   - capabilities: what the closure does, for the findings of `explain()`.
    ///   - body: a closure that implements ``Stage/Intercept``.
    /// - Returns: a stack that contains the plugin.
    public static func intercept(
        name: String = "intercept closure",
        capabilities: Set<PluginCapability> = [],
        _ body: @escaping @Sendable (PipelineRequest, PipelineContext, Stage.Next) async throws -> PipelineResponse
    ) -> PluginStack {
        PluginStack([InterceptPlugin(name: name, capabilities: capabilities, body: body)])
    }

    /// Makes a plugin that wraps the wire for one hop.
    ///
    /// - Parameters:
    ///   - name: the name in errors and in `explain()`.
    ///   - capabilities: what the closure does, for the findings of `explain()`.
    ///   - body: a closure that implements ``Stage/Exchange``.
    /// - Returns: a stack that contains the plugin.
    public static func exchange(
        name: String = "exchange closure",
        capabilities: Set<PluginCapability> = [],
        _ body: @escaping @Sendable (PipelineRequest, PipelineContext, Stage.Send) async throws -> PipelineResponse
    ) -> PluginStack {
        PluginStack([ExchangePlugin(name: name, capabilities: capabilities, body: body)])
    }
}
