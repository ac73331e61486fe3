public import Dispatch
public import Foundation

extension Provider {
    /// Sends a target and decodes its answer.
    ///
    /// Decoding runs where the pipeline runs, never on the caller's actor.
    ///
    /// - Parameters:
    ///   - target: what to ask.
    ///   - type: what the body decodes to.
    ///   - keyPath: where in the JSON the value stands, names joined by full stops; `nil` for the whole body.
    ///   - decoder: the decoder; `nil` for that of the provider.
    ///   - failsOnEmptyData: whether an empty body is an error; without, it decodes as `{}` or `[]`.
    ///   - options: settings of this call; they win over the target's own.
    /// - Returns: the value.
    /// - Throws: ``PipelineError``, with code ``PipelineError/Code-swift.struct/mapping(_:)`` and the response when the body
    ///   does not decode; `CancellationError` when the task was cancelled.
    @concurrent
    public func request<Value: Decodable & SendableMetatype>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true,
        options: RequestOptions = RequestOptions()
    ) async throws -> sending Value {
        try await perform(target, options, isStreaming: false)
            .decoded { response in
                try response.map(Value.self, atKeyPath: keyPath, using: decoder, failsOnEmptyData: failsOnEmptyData)
            }
            .awaited
    }

    /// Sends a target, decodes its answer, and calls back.
    ///
    /// The completion is called as in `request(_:options:callbackQueue:progress:completion:)`; the parameters are those of
    /// `request(_:as:atKeyPath:decoder:failsOnEmptyData:options:)`.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil,
        @_inheritActorContext completion: @escaping @isolated(any) @Sendable (Result<Value, PipelineError>) -> Void
    ) -> RequestHandle {
        deliver(on: callbackQueue, completion) {
            await self.perform(target, options, isStreaming: false)
                .decoded { response in
                    try response.map(Value.self, atKeyPath: keyPath, using: decoder, failsOnEmptyData: failsOnEmptyData)
                }
        }
    }
}

extension Provider where Target: DecodableTargetType {
    /// Sends a target and decodes its answer to the type that the target names.
    ///
    /// - Parameters:
    ///   - target: what to ask.
    ///   - keyPath: where in the JSON the value stands, names joined by full stops; `nil` for the whole body.
    ///   - decoder: the decoder; `nil` for that of the target, or else that of the provider.
    ///   - failsOnEmptyData: whether an empty body is an error; without, it decodes as `{}` or `[]`.
    ///   - options: settings of this call; they win over the target's own.
    /// - Returns: the value.
    /// - Throws: as `request(_:as:atKeyPath:decoder:failsOnEmptyData:options:)`.
    @concurrent
    public func requestDecoded(
        _ target: Target,
        atKeyPath keyPath: String? = nil,
        decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true,
        options: RequestOptions = RequestOptions()
    ) async throws -> sending Target.ResultType {
        try await perform(target, options, isStreaming: false)
            .decoded(by: target, keyPath, decoder, failsOnEmptyData)
            .awaited
    }

    /// Sends a target, decodes its answer to the type that the target names, and calls back.
    ///
    /// The completion is called as in `request(_:options:callbackQueue:progress:completion:)`; the parameters are those of
    /// `requestDecoded(_:atKeyPath:decoder:failsOnEmptyData:options:)`.
    @discardableResult
    public func requestDecoded(
        _ target: Target,
        atKeyPath keyPath: String? = nil,
        decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil,
        @_inheritActorContext completion:
            @escaping @isolated(any) @Sendable (Result<Target.ResultType, PipelineError>) -> Void
    ) -> RequestHandle where Target.ResultType: Sendable {
        deliver(on: callbackQueue, completion) {
            await self.perform(target, options, isStreaming: false)
                .decoded(by: target, keyPath, decoder, failsOnEmptyData)
        }
    }
}

extension PerformedCall {
    /// Makes the value of a target of the response and ends the call.
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
