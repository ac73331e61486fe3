extension Stage {
    /// Something that happens to a call inside a plugin, and that no stage shows to the plugins outside.
    ///
    /// ```swift
    /// context.observe(Stage.UnseenResponse.self, by: self) { signal, _ in await keep(cookiesOf: signal.response) }
    /// await context.report(Stage.UnseenResponse(response))
    /// ```
    ///
    /// A plugin may define signals of its own.
    public protocol CallSignal: Sendable {}
}

extension Stage {
    /// A response of the network that no plugin outside sees, because a cache returns a stored one in its place.
    public struct UnseenResponse: Stage.CallSignal {
        /// The response that only the cache has seen.
        public let response: PipelineResponse

        /// Creates the signal, for a plugin that caches.
        public init(_ response: PipelineResponse) { self.response = response }
    }
}

extension Stage {
    /// An error that shows that the body of the latest response is damaged, for a plugin that has stored that response.
    public struct DamagedBody: Stage.CallSignal {
        /// The error of the plugin that has read the body.
        public let error: any Error

        /// Creates the signal, for a plugin that decodes or verifies bodies.
        public init(_ error: any Error) { self.error = error }
    }
}

extension PipelineContext {
    private struct Observers: PipelineContext.Key {
        struct Key: Hashable {
            let signal: ObjectIdentifier
            let observer: ObjectIdentifier
        }

        static let defaultValue = Observers()
        static let isInherited = true

        var handlers: [Key: @Sendable (any Stage.CallSignal, PipelineContext) async -> Void] = [:]
    }

    /// Calls a handler for each signal of a type, in this call and in background calls that begin later.
    ///
    /// - Parameters:
    ///   - signal: the type of the signals.
    ///   - observer: the plugin, whose earlier handler for the type is replaced.
    ///   - handler: receives each signal and the context of the call that reports it; `nil` removes the handler. It
    ///     must not capture a context, which would keep itself alive.
    public func observe<Signal: Stage.CallSignal>(
        _ signal: Signal.Type,
        by observer: AnyObject,
        _ handler: (@Sendable (Signal, PipelineContext) async -> Void)?
    ) {
        let key = Observers.Key(signal: ObjectIdentifier(signal), observer: ObjectIdentifier(observer))
        update(Observers.self) { observers in
            guard let handler else {
                observers.handlers[key] = nil
                return
            }
            observers.handlers[key] = { signal, context in
                if let signal = signal as? Signal { await handler(signal, context) }
            }
        }
    }

    /// Passes a signal to those who observe its type, and waits until all have handled it.
    public func report<Signal: Stage.CallSignal>(_ signal: Signal) async {
        let type = ObjectIdentifier(Signal.self)
        for (key, handler) in self[Observers.self].handlers where key.signal == type { await handler(signal, self) }
    }
}
