public import Foundation

extension Provider {
    /// Sends a target and decodes its response, never on the caller's actor.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - type: the type to decode.
    ///   - keyPath: the path of the value in the JSON, as names separated by full stops; defaults to `nil`, the whole
    ///     body.
    ///   - decoder: the decoder; defaults to `nil`, that of the provider.
    ///   - failsOnEmptyData: whether an empty body is an error; defaults to `true`. If `false`, an empty body decodes
    ///     as `{}` or `[]`.
    ///   - options: the options of this call; they override those of the target.
    ///   - onProgress: receives the steps that `requestWithProgress(_:options:)` would return, the last one once the
    ///     value is decoded. A closure that is isolated to an actor, such as one written in a view, runs on that actor.
    /// - Returns: the decoded value.
    /// - Throws: ``PipelineError``, with code ``PipelineError/Code-swift.struct/mapping(_:)`` and the response if the
    ///   body does not decode; `CancellationError` if the task was cancelled.
    @concurrent
    public func request<Value: Decodable & SendableMetatype>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true,
        options: RequestOptions = RequestOptions(),
        @_inheritActorContext onProgress: (@isolated(any) @Sendable (ProgressResponse) -> Void)? = nil
    ) async throws -> sending Value {
        try await perform(target, options, for: .value, telling: onProgress) { call in
            call.decoded { response in
                try response.map(Value.self, atKeyPath: keyPath, using: decoder, failsOnEmptyData: failsOnEmptyData)
            }
        }
        .awaited
    }
}

extension Provider where Target: DecodableTargetType {
    /// Sends a target and decodes its response to the type that the target names, never on the caller's actor.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - keyPath: the path of the value in the JSON, as names separated by full stops; defaults to `nil`, the whole
    ///     body.
    ///   - decoder: the decoder; defaults to `nil`, that of the target or else of the provider.
    ///   - failsOnEmptyData: whether an empty body is an error; defaults to `true`. If `false`, an empty body decodes
    ///     as `{}` or `[]`.
    ///   - options: the options of this call; they override those of the target.
    ///   - onProgress: receives the steps that `requestWithProgress(_:options:)` would return, the last one once the
    ///     value is decoded. A closure that is isolated to an actor, such as one written in a view, runs on that actor.
    /// - Returns: the decoded value.
    /// - Throws: the errors of `request(_:as:atKeyPath:decoder:failsOnEmptyData:options:onProgress:)`.
    @concurrent
    public func requestDecoded(
        _ target: Target,
        atKeyPath keyPath: String? = nil,
        decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true,
        options: RequestOptions = RequestOptions(),
        @_inheritActorContext onProgress: (@isolated(any) @Sendable (ProgressResponse) -> Void)? = nil
    ) async throws -> sending Target.ResultType {
        try await perform(target, options, for: .value, telling: onProgress) { call in
            call.decoded(by: target, keyPath, decoder, failsOnEmptyData)
        }
        .awaited
    }
}

extension PerformedCall {
    /// Decodes the response to the result type of a target, and ends the call.
    func decoded<Target: DecodableTargetType>(
        by target: Target,
        _ keyPath: String?,
        _ decoder: JSONDecoder?,
        _ failsOnEmptyData: Bool
    ) -> Result<Target.ResultType, PipelineError> {
        decoded { response in
            try target.makeResult(
                from: response,
                atKeyPath: keyPath,
                using: decoder,
                failsOnEmptyData: failsOnEmptyData
            )
        }
    }
}
