/// The points of a request's path at which a plugin may act.
///
/// A stage has one requirement and no default, so that a misspelt method does not compile. For plugins `[A, B, C]`, prepare runs
/// A, B, C and process runs C, B, A; an interceptor wraps every later plugin. ``Exchange`` plugins form a level of their own, inside all
/// of these, where the order of the list counts, too.
public enum Stage {
    /// Changes the request before it is sent, waits, or refuses by throwing.
    ///
    /// Runs once per call, or once per call of `next` of the interceptors outside it. When it throws, nothing inside it
    /// runs, and the process stages outside it see the failure.
    public protocol Prepare: PluginType {
        /// Changes the request.
        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws
    }

    /// Sees each request exactly as it is sent, once per exchange, whatever the plugin's position.
    public protocol WillSend: PluginType {
        /// Observes the request. It must be quick: the exchange waits for it.
        func willSend(_ request: PipelineRequest, context: PipelineContext)
    }

    /// Sees what the transport produced, exactly once for each `willSend`, whatever the plugin's position.
    ///
    /// The body is as the transport delivered it, compressed if it was; of a call made with `stream` it is a stream, which an
    /// observer must not read. With exchange plugins, a buffered call shows a body when it has ended: in memory if all of it was read, and
    /// otherwise none.
    public protocol DidReceive: PluginType {
        /// Observes the result. It must be quick: the exchange waits for it.
        func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext)
    }

    /// Changes the result on its way out: a response into another, into a failure, or a failure into a response.
    ///
    /// It also sees the failure of a target that could not be made into a request.
    public protocol Process: PluginType {
        /// Changes the result.
        func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async
    }

    /// Sees how each call ended, exactly once, whatever the plugin's position.
    ///
    /// It is the last stage: its outcome is that of the plugins, of the validation of the status, and of decoding where the provider
    /// decodes. It runs for a failure before the first exchange and for a cancelled call, too; it is the only stage that a call reaches
    /// which is cancelled before it begins. For plugins `[A, B, C]`, it runs C, B, A, and ends before the caller resumes. For a
    /// call made with `stream`, it runs when the body ends, fails, is cancelled, or is released before its end.
    ///
    /// Calls that share an exchange have an outcome each. A plugin may make a call for each outcome: of the calls that are refused because
    /// they nest deeper than ``PipelineLimits/nestedCallCount``, only the first in a chain reaches this stage.
    public protocol DidFinish: PluginType {
        /// Observes the outcome. It must be quick: the caller waits for it.
        ///
        /// - Parameters:
        ///   - outcome: how the call ended.
        ///   - context: the call. It belongs to no attempt: ``PipelineContext/attempt`` is 1.
        func didFinish(_ outcome: Stage.Outcome, context: PipelineContext)
    }

    /// Wraps every later plugin and the wire: it may answer by itself, call inside again, or hold the answer back.
    public protocol Intercept: PluginType {
        /// Answers the request.
        ///
        /// - Parameters:
        ///   - request: the request as the plugins before prepared it.
        ///   - context: the call.
        ///   - next: all that is inside; call it not at all, once, again, or several times at once, but not after this
        ///     method has returned.
        /// - Returns: the response, from inside or its own. A response kept from another call is given this call's request:
        ///   `kept.request = request`; its exchanges become those of this call by themselves.
        /// - Throws: any error; one that is not a ``PipelineError`` reaches the caller with code
        ///   ``PipelineError/Code-swift.struct/plugin`` and the thrown error underneath.
        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse
    }
}

extension Stage {
    /// Wraps the wire for one hop: changes the request of this hop, responds itself, or sends more than once.
    ///
    /// Runs inside every ``Prepare``, ``Intercept`` and ``Process`` stage, wherever the plugin is in the list, once per hop: for the first
    /// request of each attempt and for every redirect. This is the level for signatures, cookies, caches and limits per host.
    ///
    /// An exchange plugin gets the head of a response and a body that may still be a stream, so it does not see how the body ends. A plugin
    /// that counts failures, such as a circuit breaker, conforms to ``Intercept``. It belongs inside `RetryPlugin`, to count each attempt, and
    /// inside `DeduplicationPlugin`, to count an exchange once and not once per caller.
    ///
    /// The body of a response is as the transport delivered it, bytes or a stream. Wrap a stream, but do not read it to its end: after
    /// the outermost exchange plugin, the core buffers it, writes it to the file of a download, discards it because of a redirect, or
    /// passes it on to a streamed call. The body of a response that the plugin does not return is discarded, see
    /// ``PipelineResponse/discardBody(_:within:)``; in a streamed call, discard it before you send again.
    ///
    /// A redirect starts from the request that entered the hop, so nothing that the plugin set leaks to the next one. Before it sets a
    /// credential, the plugin compares ``PipelineContext/hopOrigin`` with the origin that the credential belongs to, and looks at
    /// ``PipelineContext/hasLeftOrigin``.
    public protocol Exchange: PluginType {
        /// Responds to the request of a hop.
        ///
        /// - Parameters:
        ///   - request: the request as the exchange plugins outside have changed it.
        ///   - context: the call; ``PipelineContext/hop`` counts the redirects.
        ///   - send: the exchange plugins inside and the wire. Each call that reaches the wire is an exchange of its own.
        /// - Returns: the response of `send`, or one of its own. The core gives its own the request that entered the plugin. A redirect
        ///   status is followed, whoever made the response.
        /// - Throws: any error; one other than a ``PipelineError`` reaches the caller with code
        ///   ``PipelineError/Code-swift.struct/plugin`` and the thrown error underneath.
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
        /// ``Stage/Prepare``.
        case prepare
        /// ``Stage/Exchange``.
        case exchange
        /// ``Stage/WillSend``.
        case willSend
        /// ``Stage/DidReceive``.
        case didReceive
        /// ``Stage/Process``.
        case process
        /// ``Stage/Intercept``.
        case intercept
        /// ``Stage/DidFinish``.
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
