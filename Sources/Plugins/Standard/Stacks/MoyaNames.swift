// These declarations cannot be used. They make the compiler say what a name of Moya is called here.

public import PipelineCore

/// Unavailable, because it is named after what it does: use ``LoggingPlugin``.
@available(*, unavailable, renamed: "LoggingPlugin")
public typealias NetworkLoggerPlugin = LoggingPlugin

extension AccessTokenPlugin {
    /// Unavailable, because the argument has another label: use ``init(scope:cleartext:token:)``.
    @available(*, unavailable, renamed: "init(token:)")
    public init(tokenClosure: @escaping @Sendable (any TargetType) -> String) {
        self.init(token: tokenClosure)
    }
}
