public import Foundation

// These methods copy each sending method, because generic ones in place of the originals would no longer accept
// `.book(id: 3)` of an enum.

extension Provider where Target == MultiTarget {
    /// Sends any target for its effect, like `send(_:options:)`.
    @_disfavoredOverload
    @concurrent
    public func send(_ target: some TargetType, options: RequestOptions = RequestOptions()) async throws {
        try await send(MultiTarget(target), options: options)
    }

    /// Sends any target and returns its response, like `request(_:options:)`.
    @_disfavoredOverload
    @concurrent
    public func request(
        _ target: some TargetType,
        options: RequestOptions = RequestOptions()
    ) async throws -> PipelineResponse {
        try await request(MultiTarget(target), options: options)
    }

    /// Sends any target and returns its response as a stream, like `stream(_:options:)`.
    @_disfavoredOverload
    @concurrent
    public func stream(
        _ target: some TargetType,
        options: RequestOptions = RequestOptions()
    ) async throws -> StreamedResponse {
        try await stream(MultiTarget(target), options: options)
    }

    /// Sends any target many times and returns what each plugin costs, like
    /// `explain(running:options:rounds:allocations:)`.
    @_disfavoredOverload
    @concurrent
    public func explain(
        running target: some TargetType,
        options: RequestOptions = RequestOptions(),
        rounds: Int = 100,
        allocations: PipelineAnalysis.AllocationCounter? = nil
    ) async throws -> PipelineAnalysis {
        try await explain(running: MultiTarget(target), options: options, rounds: rounds, allocations: allocations)
    }

    /// Returns the progress of a call of any target, like `requestWithProgress(_:options:)`.
    @_disfavoredOverload
    public func requestWithProgress(
        _ target: some TargetType,
        options: RequestOptions = RequestOptions()
    ) -> RequestProgress {
        requestWithProgress(MultiTarget(target), options: options)
    }

    /// Sends any target and calls a closure with the result, like
    /// `request(_:options:callbackExecutor:progress:completion:)`.
    @_disfavoredOverload
    @discardableResult
    public func request(
        _ target: some TargetType,
        options: RequestOptions = RequestOptions(),
        callbackExecutor: (any TaskExecutor)? = nil,
        @_inheritActorContext progress: (@isolated(any) @Sendable (ProgressResponse) -> Void)? = nil,
        @_inheritActorContext completion:
            @escaping @isolated(any) @Sendable (Result<PipelineResponse, PipelineError>) -> Void
    ) -> Task<Void, Never> {
        request(
            MultiTarget(target),
            options: options,
            callbackExecutor: callbackExecutor,
            progress: progress,
            completion: completion
        )
    }

    /// Sends any target and decodes its response, like
    /// `request(_:as:atKeyPath:decoder:failsOnEmptyData:options:onProgress:)`.
    @_disfavoredOverload
    @concurrent
    public func request<Value: Decodable & SendableMetatype>(
        _ target: some TargetType,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true,
        options: RequestOptions = RequestOptions(),
        @_inheritActorContext onProgress: (@isolated(any) @Sendable (ProgressResponse) -> Void)? = nil
    ) async throws -> sending Value {
        try await request(
            MultiTarget(target),
            as: Value.self,
            atKeyPath: keyPath,
            decoder: decoder,
            failsOnEmptyData: failsOnEmptyData,
            options: options,
            onProgress: onProgress
        )
    }

    /// Sends any target and decodes its response to the type that the target names, like
    /// `requestDecoded(_:atKeyPath:decoder:failsOnEmptyData:options:onProgress:)`.
    @_disfavoredOverload
    @concurrent
    public func requestDecoded<Inner: DecodableTargetType>(
        _ target: Inner,
        atKeyPath keyPath: String? = nil,
        decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true,
        options: RequestOptions = RequestOptions(),
        @_inheritActorContext onProgress: (@isolated(any) @Sendable (ProgressResponse) -> Void)? = nil
    ) async throws -> sending Inner.ResultType {
        try await perform(MultiTarget(target), options, for: .value, telling: onProgress) { call in
            call.decoded(by: target, keyPath, decoder, failsOnEmptyData)
        }
        .awaited
    }
}
