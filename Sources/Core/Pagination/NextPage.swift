import HTTPTypes

extension Provider {
    /// A rule that leads from a page of a list to the next one.
    public struct NextPage<Page: Sendable>: Sendable {
        /// What follows a page.
        enum Step: Sendable {
            case end
            case link(PageLink)
            case target(Target, cursor: any Hashable & Sendable)
        }

        let step: @Sendable (Page, PipelineResponse) throws -> Step

        /// Follows the link with the relation `next` in the response's Link field; without one, the page is the last.
        ///
        /// The next request is that of the first page with the path and the query of the link. The method, header
        /// fields, body and options stay the same. A relative link is resolved against the URL of the response's
        /// request as it was sent.
        ///
        /// Source: RFC 8288 §3, https://www.rfc-editor.org/rfc/rfc8288.html#section-3
        public static var linkHeader: Self {
            Self { _, response in try PageLink.next(in: response).map(Step.link) ?? .end }
        }

        /// Sends the target for the cursor in a page; without a cursor, the page is the last.
        ///
        /// ```swift
        /// .cursor({ $0.nextCursor }, target: { .posts(after: $0) })
        /// ```
        ///
        /// - Parameters:
        ///   - cursor: returns the cursor of the next page, such as a text or a number; `nil` if there is none.
        ///   - target: returns the target of the page at a cursor.
        /// - Returns: the rule.
        public static func cursor<Cursor: Hashable & Sendable>(
            _ cursor: @escaping @Sendable (Page) throws -> Cursor?,
            target: @escaping @Sendable (Cursor) throws -> Target
        ) -> Self {
            Self { page, _ in
                guard let cursor = try cursor(page) else { return .end }
                return .target(try target(cursor), cursor: cursor)
            }
        }
    }
}

/// The origin, path and query of a page.
struct PageLink: Sendable, Hashable {
    private let origin: PipelineRequest.Origin
    private let pathAndQuery: String

    init(_ request: PipelineRequest) {
        origin = request.origin
        pathAndQuery = request.head.path ?? "/"
    }

    private init(_ target: URLText.RequestTarget) {
        origin = PipelineRequest.Origin(scheme: target.scheme, authority: target.authority)
        pathAndQuery = target.pathAndQuery
    }

    /// Returns the link of a response to the next page, or `nil` if there is none.
    static func next(in response: PipelineResponse) throws -> PageLink? {
        let fields = HTTPField.Name("Link").map { response.headers[values: $0] } ?? []
        let links = fields.lazy.flatMap(LinkField.links(in:))
        guard let link = links.first(where: { !$0.hasAnchor && $0.relations.contains("next") }) else { return nil }
        guard let target = URLText.resolve(link.reference, against: .init(of: response.request.head)) else {
            let reason = "the Link field names a next page that is not an http or https URL"
            throw PipelineError(.pagination(.link), reason, response: response)
        }
        return PageLink(target)
    }

    /// Points the request of the first page at this one; throws if this page is on another origin.
    func write(to request: inout PipelineRequest) throws {
        guard request.origin == origin else {
            let reason = "the next page is on \(origin), which does not get what is sent to \(request.origin)"
            throw PipelineError(.pagination(.origin), reason)
        }
        request.head.path = pathAndQuery
    }
}
