/// The points on a request's path at which a plugin can act.
///
/// Each stage has one requirement and no default implementation, so a misspelled method does not compile. For plugins
/// `[A, B, C]`, prepare runs A, B, C, and process runs C, B, A. An interceptor wraps every later plugin. ``Exchange``
/// plugins form a separate level inside all of these; their order in the list counts, too.
public enum Stage {
    /// A plugin that changes a request before it is sent, waits, or refuses the request by throwing.
    ///
    /// It runs once per call, or once per call of `next` if there are interceptors outside it. If it throws, nothing
    /// inside it runs, and the process stages outside it see the failure.
    public protocol Prepare: PluginType {
        /// Changes the request, or throws to refuse it.
        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws
    }

    /// A plugin that sees each request exactly as it is sent, once per exchange, regardless of its position.
    public protocol WillSend: PluginType {
        /// Observes the request. Must return quickly: the exchange waits for it.
        func willSend(_ request: PipelineRequest, context: PipelineContext)
    }

    /// A plugin that sees what the transport produced, exactly once for each `willSend`, regardless of its position.
    ///
    /// The body is as the transport delivered it, which may be compressed. In a call made with `stream`, the body is a
    /// stream that an observer must not read. In a buffered call with exchange plugins, observers see the response once
    /// its body has ended: with the body in memory if all of it was read, and otherwise without a body.
    public protocol DidReceive: PluginType {
        /// Observes the result. Must return quickly: the exchange waits for it.
        func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext)
    }

    /// A plugin that changes the result: a response into another response or a failure, or a failure into a response.
    ///
    /// It also sees the failure of a target that could not be turned into a request.
    public protocol Process: PluginType {
        /// Changes the result before the plugins outside see it.
        func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async
    }

    /// A plugin that sees how each call ended, exactly once, regardless of its position.
    ///
    /// This is the last stage. The outcome includes the results of the plugins, of the validation of the status, and of
    /// decoding if the provider decodes. The stage also runs for a call that fails before its first exchange or is
    /// cancelled. If a call is cancelled before it begins, this is the only stage that runs. For plugins `[A, B, C]`,
    /// it runs C, B, A, and ends before the caller resumes. For a call made with `stream`, it runs when the body ends,
    /// fails, is cancelled, or is released before its end.
    ///
    /// Calls that share an exchange each have their own outcome. A plugin may make a call for each outcome: if calls
    /// are refused because they nest deeper than ``ProviderConfiguration/Limits/nestedCallCount``, only the first one
    /// in a chain reaches this stage.
    public protocol DidFinish: PluginType {
        /// Observes the outcome. Must return quickly: the caller waits for it.
        ///
        /// - Parameters:
        ///   - outcome: how the call ended.
        ///   - context: the context of the call. It belongs to no attempt, so ``PipelineContext/attempt`` is 1.
        func didFinish(_ outcome: Stage.Outcome, context: PipelineContext)
    }

    /// A plugin that wraps every later plugin and the wire.
    ///
    /// It can respond without them, call them several times, or delay the response.
    public protocol Intercept: PluginType {
        /// Responds to the request.
        ///
        /// - Parameters:
        ///   - request: the request as the plugins outside have prepared it.
        ///   - context: the context of the call.
        ///   - next: everything inside this plugin. Call it not at all, once, several times or concurrently, but not
        ///     after this method has returned.
        /// - Returns: the response, from inside or the plugin's own. If it was kept from another call, give it this
        ///   call's request: `kept.request = request`. The core replaces its exchanges with those of this call.
        /// - Throws: any error. An error other than a ``PipelineError`` reaches the caller wrapped in one with code
        ///   ``PipelineError/Code-swift.struct/plugin``, as its underlying error.
        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse
    }
}

extension Stage {
    /// A plugin that wraps the wire for one hop.
    ///
    /// It can change the request of this hop, respond without the wire, or send several times.
    ///
    /// It runs once per hop, which is the first request of each attempt and every redirect. Wherever it is in the list,
    /// it runs inside every ``Prepare``, ``Intercept`` and ``Process`` stage. Use this level for signatures, cookies,
    /// caches and limits per host.
    ///
    /// An exchange plugin gets the head of a response and a body that may still be a stream. A plugin that counts
    /// failures, such as a circuit breaker, wraps the stream to see how it ends. It counts each exchange once, for its
    /// own origin, and neither hits of a cache nor callers that share an exchange.
    ///
    /// The body of a response is as the transport delivered it: bytes or a stream. You can wrap a stream, but must not
    /// read it to its end. After the outermost exchange plugin, the core buffers it, writes it to the file of a
    /// download, discards it because of a redirect, or passes it on to a streamed call. The core discards the body of a
    /// response that the plugin does not return, see ``PipelineResponse/discardBody(_:within:)``. In a streamed call,
    /// discard it yourself before you call `send` again.
    ///
    /// A redirect starts from the request that entered the hop, so it contains nothing that the plugin set. Before the
    /// plugin sets a credential, it compares ``PipelineContext/hopOrigin`` with the origin that the credential belongs
    /// to, and checks ``PipelineContext/hasLeftOrigin``.
    public protocol Exchange: PluginType {
        /// Responds to the request of a hop.
        ///
        /// - Parameters:
        ///   - request: the request as the exchange plugins outside have changed it.
        ///   - context: the context of the call; ``PipelineContext/hop`` counts the redirects.
        ///   - send: the exchange plugins inside and the wire. Each call that reaches the wire is a separate exchange.
        /// - Returns: the response of `send`, or the plugin's own. The core sets the request of the plugin's own
        ///   response to the one that entered the plugin. A redirect status is followed in both cases.
        /// - Throws: any error. An error other than a ``PipelineError`` reaches the caller wrapped in one with code
        ///   ``PipelineError/Code-swift.struct/plugin``, as its underlying error.
        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse
    }
}

extension Stage {
    /// A stage as a value, for errors and descriptions.
    public enum Kind: String, Sendable {
        /// Changes the request, see ``Stage/Prepare``.
        case prepare
        /// Wraps the wire for one hop, see ``Stage/Exchange``.
        case exchange
        /// Observes a request as it is sent, see ``Stage/WillSend``.
        case willSend
        /// Observes what the transport produced, see ``Stage/DidReceive``.
        case didReceive
        /// Changes the result, see ``Stage/Process``.
        case process
        /// Wraps everything inside, see ``Stage/Intercept``.
        case intercept
        /// Observes how the call ended, see ``Stage/DidFinish``.
        case didFinish

        /// The stages that a plugin takes part in, in the order of a request's path.
        static func all(of plugin: any PluginType) -> [Kind] {
            var kinds: [Kind] = []
            if plugin is any Stage.Prepare { kinds.append(.prepare) }
            if plugin is any Stage.Intercept { kinds.append(.intercept) }
            if plugin is any Stage.Exchange { kinds.append(.exchange) }
            if plugin is any Stage.WillSend { kinds.append(.willSend) }
            if plugin is any Stage.DidReceive { kinds.append(.didReceive) }
            if plugin is any Stage.Process { kinds.append(.process) }
            if plugin is any Stage.DidFinish { kinds.append(.didFinish) }
            return kinds
        }
    }
}
