public import HTTPTypes
public import PipelineCore

/// A batch of operations that run as one and whose values are discarded, made from an array by `flatten()`.
///
/// ```swift
/// let uploads = photos.map { PhotoController.upload($0) }
/// try await api.send(uploads.flatten().concurrent(by: 3))
/// ```
///
/// **Effects**: operations start in order, at most as many at a time as ``concurrent(by:)`` allows. The first failure
/// cancels the running operations and becomes the failure of the batch; the remaining operations do not start. With
/// ``avoidCancelOnError(except:exceptCodes:exceptKinds:)``, the other operations continue after a failure. Each failure
/// is then passed to `onError` of an ``APICall`` as it happens, and the batch succeeds with a list of the failures.
/// Cancelling the batch cancels the running operations and waits for them to end; the remaining ones do not start. If
/// an operation alone is cancelled, for example by a plugin, that counts as a failure. Every operation has the same
/// share of the progress, including one that fails without ending the batch. An empty batch succeeds immediately.
///
/// **Defaults**: one operation at a time; the first failure ends the batch.
public struct APIBatch: APIOperation {
    /// The result of a batch that ran to its end.
    public struct Outcome: Sendable {
        /// The number of operations in the batch.
        public let count: Int
        /// The failures, by the index of the operation.
        ///
        /// Always empty without ``avoidCancelOnError(except:exceptCodes:exceptKinds:)``.
        public internal(set) var failures: [Int: PipelineError] = [:]
    }

    private let operations: [any APIOperation]
    private var width = 1
    private var avoidsCancel = false
    private var endingStatuses: Set<Int> = []
    private var endingCodes: Set<PipelineError.Code> = []
    private var endingKinds: [PipelineError.Code.Kind] = []

    init(_ operations: [any APIOperation]) {
        self.operations = operations
    }

    /// Returns a copy that runs up to this many operations at a time.
    ///
    /// The number must not be negative; 0 and 1 run the operations one after another.
    public func concurrent(by width: Int) -> APIBatch {
        precondition(width >= 0, "width is \(width), less than 0")
        var copy = self
        copy.width = max(width, 1)
        return copy
    }

    /// Returns a copy in which a failure does not cancel the other operations, except the failures given here.
    ///
    /// The exceptions replace those of an earlier call.
    ///
    /// ```swift
    /// uploads.flatten().avoidCancelOnError(except: .unauthorized, exceptCodes: .offline, exceptKinds: .timeout)
    /// ```
    ///
    /// - Parameters:
    ///   - statuses: the response statuses that still end the batch; defaults to none.
    ///   - codes: the error codes that still end the batch; defaults to none.
    ///   - kinds: the kinds of error that still end the batch; defaults to none.
    /// - Returns: the copy.
    public func avoidCancelOnError(
        except statuses: HTTPResponse.Status...,
        exceptCodes codes: PipelineError.Code...,
        exceptKinds kinds: PipelineError.Code.Kind...
    ) -> APIBatch {
        var copy = self
        copy.avoidsCancel = true
        copy.endingStatuses = Set(statuses.map(\.code))
        copy.endingCodes = Set(codes)
        copy.endingKinds = kinds
        return copy
    }

    /// Runs the operations and returns how many there were and which of them failed without ending the batch.
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
        if endingCodes.contains(failure.code) || endingKinds.contains(where: failure.code.isKind) { return true }
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
    /// Returns a batch that runs the operations of this array.
    public func flatten() -> APIBatch { APIBatch(self) }
}

extension Array where Element == any APIOperation {
    /// Returns a batch that runs the operations of this array, which may be of different types.
    public func flatten() -> APIBatch { APIBatch(self) }
}
