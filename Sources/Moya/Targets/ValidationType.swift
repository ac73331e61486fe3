import PipelineCore

/// The statuses that a target accepts as success.
@available(swift, deprecated: 7, message: "Use ValidationType of Pipeline, and anyStatus for none.")
public enum ValidationType: Equatable, Sendable {
    /// Accepts every status.
    case none
    /// Accepts the statuses 200 to 299.
    case successCodes
    /// Accepts the statuses 200 to 399.
    case successAndRedirectCodes
    /// Accepts the given statuses; an empty list accepts every status.
    case customCodes([Int])

    func accepts(_ statusCode: Int) -> Bool {
        switch self {
        case .none: true
        case .successCodes: (200..<300).contains(statusCode)
        case .successAndRedirectCodes: (200..<400).contains(statusCode)
        case .customCodes(let codes): codes.isEmpty || codes.contains(statusCode)
        }
    }

    /// The same validation by the native provider.
    var native: PipelineCore.ValidationType {
        switch self {
        case .none: .anyStatus
        case .successCodes: .successCodes
        case .successAndRedirectCodes: .successAndRedirectCodes
        case .customCodes(let codes): codes.isEmpty ? .anyStatus : .customCodes(codes)
        }
    }
}
