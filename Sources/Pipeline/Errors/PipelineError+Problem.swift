public import Foundation

extension PipelineError {
    /// The problem that the server reported (RFC 9457), as ``PipelineResponse/problemDetails``; `nil` without a response.
    ///
    /// A target whose `validationType` accepts successes only has it for each status that it does not accept.
    public var problemDetails: ProblemDetails? { response?.problemDetails }

    /// The reported problem as a type of its own, as ``PipelineResponse/mapProblem(_:using:)``.
    ///
    /// ```swift
    /// } catch let error as PipelineError where error.code == .unacceptableStatus {
    ///     let credit = try error.mapProblem(OutOfCredit.self)
    ///     show("You have \(credit.balance) left.")
    /// }
    /// ```
    ///
    /// - Throws: ``PipelineError`` with code ``Code-swift.struct/mapping(_:)``: `.problem` also when there is no response.
    public func mapProblem<Value: Decodable>(
        _ type: Value.Type,
        using decoder: JSONDecoder? = nil
    ) throws -> Value {
        guard let response else {
            throw PipelineError(.mapping(.problem), "there is no response that could report a problem")
        }
        return try response.mapProblem(type, using: decoder)
    }
}
