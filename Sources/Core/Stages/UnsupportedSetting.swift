/// A setting that a transport was given and cannot apply, so that it refuses the requests concerned.
public struct UnsupportedSetting: Sendable, Hashable {
    /// The code with which the requests fail, for example `unsupported.pinning`.
    public let code: PipelineError.Code
    /// What the transport cannot do and for which hosts, as a clause.
    public let problem: String
    /// What to do about it, as an imperative clause.
    public let remedy: String

    /// Describes a setting that a transport cannot apply.
    public init(code: PipelineError.Code, problem: String, remedy: String) {
        self.code = code
        self.problem = problem
        self.remedy = remedy
    }
}
