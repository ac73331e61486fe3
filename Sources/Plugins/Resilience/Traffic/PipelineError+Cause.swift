import PipelineCore

extension PipelineError.RefusalCause {
    /// What errors call the failure.
    var text: String { statusCode.map { "status \($0)" } ?? code.rawValue }
}

extension PipelineError {
    /// Returns the error of a plugin that refuses a request after a failure, which the reason names first.
    static func refused(
        _ code: Code,
        after cause: RefusalCause?,
        _ reason: String,
        retryAfter: Duration? = nil
    ) -> PipelineError {
        let text = cause.map { "after \($0.text), \(reason)" } ?? reason
        return refused(code, text, retryAfter: retryAfter, cause: cause)
    }
}

extension PipelineContext {
    /// How the attempt before failed; `nil` in the first attempt.
    var earlierFailure: PipelineError.RefusalCause? {
        guard let exchange = exchanges.last(where: { $0.attempt < attempt }) else { return nil }
        if let code = exchange.failure { return .init(code: code, statusCode: exchange.statusCode) }
        guard let status = exchange.statusCode, status >= 400 else { return nil }
        return .init(code: .unacceptableStatus, statusCode: status)
    }
}
