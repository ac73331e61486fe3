public import Foundation

extension PipelineError {
    /// The problem that the server reported (RFC 9457), from ``PipelineResponse/problemDetails``; `nil` without a
    /// response.
    ///
    /// If the `validationType` of the target accepts only successes, it is available for every status that the target
    /// does not accept.
    public var problemDetails: ProblemDetails? { response?.problemDetails }

    /// Decodes the reported problem as a type of your own, like ``PipelineResponse/mapProblem(_:using:)``.
    ///
    /// ```swift
    /// } catch let error as PipelineError where error.code == .unacceptableStatus {
    ///     let credit = try error.mapProblem(OutOfCredit.self)
    ///     show("You have \(credit.balance) left.")
    /// }
    /// ```
    ///
    /// - Throws: ``PipelineError`` with code ``Code-swift.struct/mapping(_:)``; the mapping is `.problem` if the call
    ///   failed without a response.
    public func mapProblem<Value: Decodable>(
        _ type: Value.Type,
        using decoder: JSONDecoder? = nil
    ) throws -> Value {
        guard let response else {
            throw PipelineError(.mapping(.problem), "the error has no response, so it has no problem details")
        }
        return try response.mapProblem(type, using: decoder)
    }
}
