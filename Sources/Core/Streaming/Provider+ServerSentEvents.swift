import HTTPTypes

extension Provider {
    /// Subscribes to Server-Sent Events and reconnects when the stream ends or the network fails.
    ///
    /// ```swift
    /// for try await event in provider.serverSentEvents(.news) {
    ///     show(try event.map(News.self))
    /// }
    /// ```
    ///
    /// **Effects**
    ///
    /// - Nothing is sent before the first event is requested. Leaving the loop closes the exchange, except at the top
    ///   level of `main.swift`, where Swift keeps the iterator until the program ends.
    /// - Each connection is a separate call through all plugins, so a token is as fresh as for any other call.
    /// - The request has `Accept: text/event-stream` and `Cache-Control: no-cache`, unless the target sets these
    ///   fields. Once there is an ID, it also has Last-Event-ID, without leading and trailing blanks.
    /// - Events that arrived before a stream broke are delivered first. The next stream continues after the ID of the
    ///   last complete event. A stream that sends no ID keeps the previous one.
    /// - Waits use the provider's clock and its `random`; see ``ServerSentEvent/ReconnectionPolicy``. A replayed stream
    ///   or failure (`context.isReplayed`) is not followed by a wait.
    /// - Status 204 ends the loop without an error. With ``ServerSentEvent/ReconnectionPolicy/never``, so does the end
    ///   of the stream.
    ///
    /// **Errors**
    ///
    /// | code | when |
    /// |---|---|
    /// | `unacceptableStatus` | any status other than 200; with the response, and its body if that arrives soon and is short |
    /// | `mapping.events` | 200 with a Content-Type other than `text/event-stream` |
    /// | `contentCoding.unsupported` | the stream is compressed and no plugin or transport decodes it |
    /// | `limit.lineBytes`, `limit.eventBytes` | a line, or the data of an event, is longer than allowed |
    /// | `invalidRequest.headerValue` | `lastEventID` cannot be sent in a header field |
    ///
    /// These errors end the events. So does every error after which the policy does not reconnect, and the last of too
    /// many failed attempts. Errors are thrown unchanged. A cancelled task gets `CancellationError`.
    ///
    /// Source: HTML, 9.2.3 Processing model,
    /// https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model
    ///
    /// - Parameters:
    ///   - target: the target to subscribe to.
    ///   - lastEventID: the ID to continue after; if it is empty, the target decides.
    ///   - reconnection: the policy that decides when to reconnect.
    ///   - maximumByteCount: the most bytes of a line, and of the data of an event, 1 and up; defaults to 1 MiB.
    ///   - options: settings of each call; they override the target's own.
    /// - Returns: the subscription, a sequence of events.
    public func serverSentEvents(
        _ target: Target,
        lastEventID: String = "",
        reconnection: ServerSentEvent.ReconnectionPolicy = .standard,
        maximumByteCount: Int = 1 << 20,
        options: RequestOptions = RequestOptions()
    ) -> ServerSentEvent.Subscription {
        precondition(maximumByteCount > 0, "maximumByteCount is \(maximumByteCount), not 1 or more")
        let settings = EventSource.Settings(
            policy: reconnection,
            maximumByteCount: maximumByteCount,
            clock: self.engine.settings.clock,
            random: self.engine.settings.random
        ) { lastEventID in
            await self.openEvents(target, after: lastEventID, options)
        }
        return ServerSentEvent.Subscription(lastEventID: lastEventID, settings)
    }

    /// Opens one connection; its response is `nil` for 204.
    private func openEvents(
        _ target: Target,
        after lastEventID: String,
        _ options: RequestOptions
    ) async -> EventSource.Attempt {
        let call = await perform(target, options, for: .stream) { try $0.askForEvents(after: lastEventID) }
        let failure: PipelineError?
        switch call.result {
        case .success(let response) where response.statusCode != 204:
            failure = await self.failure(of: response, call.options)
        case .failure(let error) where error.code != .unacceptableStatus || error.response?.statusCode != 204:
            failure = error
        default:
            call.finish(call.response.map { .success($0) } ?? call.result)
            return EventSource.Attempt(result: .success(nil), isReplayed: call.isReplayed)
        }
        guard let failure else {
            return EventSource.Attempt(result: call.streamed().map { $0 }, isReplayed: call.isReplayed)
        }
        call.finish(.failure(failure))
        return EventSource.Attempt(result: .failure(failure), isReplayed: call.isReplayed)
    }

    /// Returns why a response cannot be read as events, or `nil` if it can.
    private func failure(of response: PipelineResponse, _ options: RequestOptions) async -> PipelineError? {
        guard response.statusCode == 200 else {
            return await engine.failure(of: response, options, .customCodes([200]))
        }
        do {
            try response.requireEventStream()
            return nil
        } catch {
            return PipelineError(thrown: error, otherwise: .mapping(.events), "the response holds no events")
        }
    }
}

extension Provider where Target == MultiTarget {
    /// Subscribes to Server-Sent Events of any target, like
    /// `serverSentEvents(_:lastEventID:reconnection:maximumByteCount:options:)`.
    @_disfavoredOverload
    public func serverSentEvents(
        _ target: some TargetType,
        lastEventID: String = "",
        reconnection: ServerSentEvent.ReconnectionPolicy = .standard,
        maximumByteCount: Int = 1 << 20,
        options: RequestOptions = RequestOptions()
    ) -> ServerSentEvent.Subscription {
        serverSentEvents(
            MultiTarget(target),
            lastEventID: lastEventID,
            reconnection: reconnection,
            maximumByteCount: maximumByteCount,
            options: options
        )
    }
}

extension PipelineRequest {
    fileprivate mutating func askForEvents(after lastEventID: String) throws {
        if !headers.contains(.accept) { headers[.accept] = "text/event-stream" }
        // HTML sets the request's cache mode to no-store, which Fetch expresses with this field.
        if !headers.contains(.cacheControl) { headers[.cacheControl] = "no-cache" }
        let id = lastEventID.trimmingBlanks
        guard !id.isEmpty, let name = HTTPField.Name("Last-Event-ID") else { return }
        try setHeader(id, for: name)
    }
}
