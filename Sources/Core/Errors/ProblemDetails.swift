/// The details of a failure that an API reports in the format of RFC 9457.
///
/// A response has problem details if its media type is `application/problem+json`: ``PipelineResponse/problemDetails``
/// and, for a failed call, ``PipelineError/problemDetails``. To decode members that an API adds to these five, use
/// ``PipelineError/failure(as:using:)`` with a type of your own, which gets the whole object:
///
/// ```swift
/// struct OutOfCredit: Decodable {
///     let balance: Double
///     let accounts: [String]
/// }
/// if error.problemDetails?.type == "https://example.com/probs/out-of-credit" {
///     let credit = error.failure(as: OutOfCredit.self)
/// }
/// ```
///
/// **Defaults**: a member that is missing, or whose value has the wrong type, is ignored. `type` then defaults to
/// `about:blank`, which says no more than the status. `status` is a whole number of three digits.
///
/// **Secrets**: all values come from the server unchanged. ``title``, ``detail`` and ``instance`` are written for
/// people. They may contain what only this user is allowed to see, such as names, numbers, or links with a token. Show
/// them to the user, but do not log them. The description of this value shows `status` and `type`, the latter without
/// user name, query values and fragment.
///
/// Source: RFC 9457 §3.1, https://www.rfc-editor.org/rfc/rfc9457.html#section-3.1
public struct ProblemDetails: Sendable, Hashable {
    /// The type of problem, a URI reference; compare it as text.
    public var type: String
    /// A title for the type of problem, the same for all problems of that type.
    public var title: String?
    /// The status as the API reported it in the body; the status of the response takes precedence.
    public var status: Int?
    /// An explanation of this occurrence of the problem.
    public var detail: String?
    /// A URI reference that identifies this occurrence of the problem.
    public var instance: String?

    /// Makes problem details for stubs and tests.
    public init(
        type: String = "about:blank",
        title: String? = nil,
        status: Int? = nil,
        detail: String? = nil,
        instance: String? = nil
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.instance = instance
    }
}

extension ProblemDetails: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, instance
    }

    /// Decodes any JSON object; members whose values have the wrong type are ignored.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? container.decode(String.self, forKey: key) }
        let status = try? container.decode(Int.self, forKey: .status)
        self.init(
            type: text(.type) ?? "about:blank",
            title: text(.title),
            status: status.flatMap { (100...999).contains($0) ? $0 : nil },
            detail: text(.detail),
            instance: text(.instance)
        )
    }
}

extension ProblemDetails: SafelyDescribed {
    /// The type without its query values, and the status.
    public var description: String {
        let kind = type == "about:blank" ? type : Redactor.standard.url(type)
        return status.map { "\(kind), status \($0)" } ?? kind
    }
}
