// These declarations cannot be used. They make the compiler say what to write instead of a typical mistake.

extension PipelineError {
    /// Unavailable, because an error is not a case: match its ``code``.
    @available(*, unavailable, message: "catch let error as PipelineError where error.code.isKind(of: .timeout)")
    public static var timeout: PipelineError { PipelineError(.timeout(.total), "") }

    /// Unavailable, because an error is not a case: match its ``code``.
    @available(*, unavailable, message: "catch let error as PipelineError where error.code == .offline")
    public static var offline: PipelineError { PipelineError(.offline, "") }

    /// Unavailable, because an error is not a case: match its ``code``, and read ``statusCode``.
    @available(*, unavailable, message: "catch let error as PipelineError where error.code == .unacceptableStatus")
    public static var unacceptableStatus: PipelineError { PipelineError(.unacceptableStatus, "") }

    /// Unavailable, because errors are not compared: match the ``code``.
    @available(*, unavailable, message: "match the code of the error: switch error.code { case .timeout: … }")
    public static func ~= (pattern: PipelineError, error: any Error) -> Bool { false }
}

extension PipelineError.Code {
    /// Unavailable, because a kind has several codes: use ``isKind(of:)``.
    @available(*, unavailable, message: "a kind has several codes: write code.isKind(of: .timeout)")
    public static func == (code: Self, kind: Kind) -> Bool {
        code.isKind(of: kind)
    }

    /// Unavailable, because a kind has several codes: use ``isKind(of:)``.
    @available(*, unavailable, message: "a kind has several codes: write !code.isKind(of: .timeout)")
    public static func != (code: Self, kind: Kind) -> Bool {
        !code.isKind(of: kind)
    }
}
