public import HTTPTypes
public import Pipeline

/// Operations of any kinds that run as one, without their values.
///
/// ```swift
/// let uploads = photos.map { PhotoController.upload($0) }
/// try await api.send(uploads.flatten().concurrent(by: 3))
/// ```
///
/// **Effects**: operations begin in their order, at most so many at a time as ``concurrent(by:)`` says. The first failure cancels those that
/// run, no further one begins, and it is the failure of the batch. With ``avoidCancelOnError()`` the others continue: each failure is
/// reported as it happens, to `onError` of an ``APICall``, and the batch succeeds with a list of them. Cancelling ends all that is running, no further one begins, and the batch waits for their
/// end. An operation that is cancelled by itself, as by a plugin, is a failure as any other. Progress gives
/// each operation the same share, one that has failed without ending the batch too. A batch of nothing succeeds at once.
///
/// **Defaults**: one at a time; the first failure ends the batch.
public struct APIBatch: APIOperation {
    /// What came of a batch that ran to its end.
    public struct Outcome: Sendable {
        /// How many operations there were.
        public let count: Int
        /// Why operations failed, by their position; empty unless failures were not to cancel the others.
        public internal(set) var failures: [Int: PipelineError] = [:]
    }

    private let operations: [any APIOperation]
    private var width = 1
    private var avoidsCancel = false
    private var endingStatuses: Set<Int> = []
    private var endingCodes: [PipelineError.Code] = []

    /// Makes a batch.
    public init(_ operations: [any APIOperation]) {
        self.operations = operations
    }

    /// A copy of which so many run at a time; 0 and 1 mean one after the other.
    public func concurrent(by width: Int) -> APIBatch {
        precondition(width >= 0, "width is \(width), less than 0")
        var copy = self
        copy.width = max(width, 1)
        return copy
    }

    /// A copy in which no failure ends the batch.
    public func avoidCancelOnError() -> APIBatch {
        var copy = self
        copy.avoidsCancel = true
        copy.endingStatuses = []
        copy.endingCodes = []
        return copy
    }

    /// A copy in which a failure leaves the others be, except one with these statuses, which ends the batch all the same.
    ///
    /// Excepted codes that were given before stay.
    public func avoidCancelOnError(except statuses: HTTPResponse.Status...) -> APIBatch {
        var copy = self
        copy.avoidsCancel = true
        copy.endingStatuses = Set(statuses.map(\.code))
        return copy
    }

    /// A copy in which a failure leaves the others be, except one of these codes and their details, which ends the batch all the same.
    ///
    /// Excepted statuses that were given before stay.
    ///
    /// ```swift
    /// uploads.flatten().avoidCancelOnError(except: .offline, .timeout)
    /// ```
    public func avoidCancelOnError(except codes: PipelineError.Code...) -> APIBatch {
        var copy = self
        copy.avoidsCancel = true
        copy.endingCodes = codes
        return copy
    }

    /// Runs the operations.
    public func run(
        in client: APIClient,
        observer: APIObserver
    ) async -> Result<Outcome, PipelineError> {
        let client = client.pinned
        let shares = observer.onProgress.map { ProgressShares(count: operations.count, report: $0) }
        return await withTaskGroup(of: (Int, PipelineError?).self) { group in
            var waiting = operations.enumerated().makeIterator()
            var outcome = Outcome(count: operations.count)
            var end: PipelineError?
            func beginNext() {
                guard end == nil, let (index, operation) = waiting.next() else { return }
                let isBegun = group.addTaskUnlessCancelled {
                    (index, await operation.failure(in: client, observer: observer.part(shares?.part(index))))
                }
                if !isBegun { end = PipelineError(.cancelled, "the batch was cancelled") }
            }
            for _ in 0..<min(width, operations.count) { beginNext() }
            while let (index, failure) = await group.next() {
                if let failure, end == nil {
                    if ends(failure) {
                        end = failure
                        group.cancelAll()
                    } else {
                        outcome.failures[index] = failure
                        observer.onFailure?(failure)
                    }
                }
                if end == nil { shares?.end(index) }
                beginNext()
            }
            return end.map { .failure($0) } ?? .success(outcome)
        }
    }

    private func ends(_ failure: PipelineError) -> Bool {
        if !avoidsCancel || Task.isCancelled { return true }
        if endingCodes.contains(where: { failure.code.isKind(of: $0) }) { return true }
        return failure.response.map { endingStatuses.contains($0.statusCode) } ?? false
    }
}

extension APIOperation {
    fileprivate func failure(in client: APIClient, observer: APIObserver) async -> PipelineError? {
        guard case .failure(let error) = await run(in: client, observer: observer) else { return nil }
        return error
    }
}

extension Array where Element: APIOperation {
    /// A batch of these.
    public func flatten() -> APIBatch { APIBatch(self) }
}

extension Array where Element == any APIOperation {
    /// A batch of these.
    public func flatten() -> APIBatch { APIBatch(self) }
}
