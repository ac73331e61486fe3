/// The statuses that a target accepts as success.
///
/// Validation is the last step of a call: plugins see a response with any status as a success.
public struct ValidationType: Sendable, Hashable {
    private enum Accepted: Hashable {
        case automatic, all
        case codes(Set<Int>)
    }

    private let accepted: Accepted

    /// Leaves the choice to the call, the default of ``TargetType``.
    ///
    /// A call that returns a response with its body in memory accepts every status, so that its caller can look at it.
    /// Every other call accepts 200 to 299: one that decodes the body, streams it, writes it to a file, or is made for
    /// its effect with `send`.
    public static let automatic = ValidationType(accepted: .automatic)

    /// Accepts every status: a 404 or a 500 is not an error.
    public static let anyStatus = ValidationType(accepted: .all)

    /// Accepts the statuses 200 to 299.
    public static let successCodes = customCodes(200...299)

    /// Accepts the statuses 200 to 399.
    public static let successAndRedirectCodes = customCodes(200...399)

    /// Accepts exactly the given statuses; if the list is empty, every response is an error.
    ///
    /// Use ``anyStatus`` to accept every status.
    public static func customCodes(_ codes: some Sequence<Int>) -> ValidationType {
        ValidationType(accepted: .codes(Set(codes)))
    }

    /// Returns whether a response with this status is a success; for ``automatic`` if it is from 200 to 299, see
    /// ``PipelineContext/validationType``.
    public func accepts(_ statusCode: Int) -> Bool {
        switch accepted {
        case .automatic: (200...299).contains(statusCode)
        case .all: true
        case .codes(let codes): codes.contains(statusCode)
        }
    }
}

extension ValidationType: CustomStringConvertible {
    /// The accepted statuses, at most eight of them.
    public var description: String {
        guard case .codes(let codes) = accepted else { return accepted == .all ? "any status" : "automatic" }
        if codes.isEmpty { return "no status" }
        if self == .successCodes { return "200…299" }
        if self == .successAndRedirectCodes { return "200…399" }
        return codes.sorted().prefix(8).map(String.init).joined(separator: ", ") + (codes.count > 8 ? ", …" : "")
    }
}
