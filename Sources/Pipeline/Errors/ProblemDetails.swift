/// What an API says about a failure, in the form of RFC 9457.
///
/// A response has one when its media type is `application/problem+json`: ``PipelineResponse/problemDetails``, and for a
/// failed call ``PipelineError/problemDetails``. Members that an API adds to these five are decoded with
/// ``PipelineError/mapProblem(_:using:)``, or by a type that decodes the same object as this one and more:
///
/// ```swift
/// struct OutOfCredit: Decodable {
///     let balance: Double
///     let accounts: [String]
/// }
/// if error.problemDetails?.type == "https://example.com/probs/out-of-credit" {
///     let credit = try error.mapProblem(OutOfCredit.self)
/// }
/// ```
///
/// **Defaults**: a member that is missing, or whose value is not of its type, is as if it were not there; `type` is then
/// `about:blank`, which says no more than the status does. `status` is a whole number of three digits.
///
/// **Secrets**: all of it comes from the server as it is. ``title``, ``detail`` and ``instance`` are made for people and may
/// hold what only this user is to see, names, numbers, links with a token; show them to the user, not to a log. The
/// description of this value shows `status` and `type`, without user name, query values and fragment.
///
/// Source: RFC 9457 §3.1, https://www.rfc-editor.org/rfc/rfc9457.html#section-3.1
public struct ProblemDetails: Sendable, Hashable {
    /// The kind of problem, a URI reference; compare it as text.
    public var type: String
    /// The kind of problem in words, the same for all problems of a kind.
    public var title: String?
    /// The status as its author gave it; the response's own is the one that counts.
    public var status: Int?
    /// What went wrong this time, in words.
    public var detail: String?
    /// This occurrence of the problem, a URI reference.
    public var instance: String?

    /// Makes a report, for stubs and tests.
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

    /// Decodes any JSON object; members that are not of their type are ignored.
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
