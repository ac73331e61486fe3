// These declarations cannot be used. They make the compiler say what a name of Moya is called here.

public import HTTPTypes

/// Unavailable: the names of Moya have no module of their own here.
@available(*, unavailable, message: "import Pipeline, and write HTTPMethod for Moya.Method, RequestTask for Task")
public enum Moya {
    /// Unavailable: use `HTTPMethod`, a name of ``TargetType``.
    public typealias Method = HTTPRequest.Method
}

/// Unavailable, because this package has its own provider: use ``Provider``.
@available(*, unavailable, renamed: "Provider")
public typealias MoyaProvider<Target: TargetType> = Provider<Target>

/// Unavailable, because all errors have one type: use ``PipelineError``.
@available(*, unavailable, renamed: "PipelineError")
public typealias MoyaError = PipelineError
