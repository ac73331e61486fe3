public import Foundation

extension Provider {
    /// Returns the pages of a list as responses.
    ///
    /// - Parameters:
    ///   - target: the target of the first page.
    ///   - next: the rule that leads from a page to the next one.
    ///   - maximumPageCount: the most pages, 1 and up; a further page is an error. To read only the first pages, use
    ///     `prefix(_:)`.
    ///   - options: settings of each call; they override the target's own.
    /// - Returns: the pages.
    public func pages(
        _ target: Target,
        next: NextPage<PipelineResponse> = .linkHeader,
        maximumPageCount: Int = 1_000,
        options: RequestOptions = RequestOptions()
    ) -> Pages<PipelineResponse> {
        makePages(target, next, maximumPageCount, options) { $0 }
    }

    /// Returns the pages of a list, each decoded.
    ///
    /// ```swift
    /// provider.pages(.posts(after: nil), of: PostPage.self, next: .cursor({ $0.next }, target: { .posts(after: $0) }))
    /// ```
    ///
    /// - Parameters:
    ///   - target: the target of the first page.
    ///   - type: the type that the body of a page decodes to.
    ///   - decoder: the decoder; `nil` for that of the provider.
    ///   - next: the rule that leads from a page to the next one.
    ///   - maximumPageCount: the most pages, 1 and up; a further page is an error. To read only the first pages, use
    ///     `prefix(_:)`.
    ///   - options: settings of each call; they override the target's own.
    /// - Returns: the pages.
    public func pages<Page: Decodable & Sendable>(
        _ target: Target,
        of type: Page.Type,
        decoder: JSONDecoder? = nil,
        next: NextPage<Page> = .linkHeader,
        maximumPageCount: Int = 1_000,
        options: RequestOptions = RequestOptions()
    ) -> Pages<Page> {
        makePages(target, next, maximumPageCount, options) { try $0.map(Page.self, using: decoder) }
    }

    private func makePages<Page: Sendable>(
        _ target: Target,
        _ next: NextPage<Page>,
        _ maximumPageCount: Int,
        _ options: RequestOptions,
        decode: @escaping @Sendable (PipelineResponse) throws -> Page
    ) -> Pages<Page> {
        precondition(maximumPageCount > 0, "maximumPageCount is \(maximumPageCount), not 1 or more")
        return Pages(start: target, maximumPageCount: maximumPageCount) { target, link in
            try await self.page(target, link, next, options, decode)
        }
    }

    @concurrent
    private func page<Page: Sendable>(
        _ target: Target,
        _ link: PageLink?,
        _ next: NextPage<Page>,
        _ options: RequestOptions,
        _ decode: @Sendable (PipelineResponse) throws -> Page
    ) async throws -> FetchedPage<Target, Page> {
        let call = await perform(target, options, for: .value) { try link?.write(to: &$0) }
        return try call.decoded { response in
            let page = try decode(response)
            return FetchedPage(
                page: page,
                place: PageLink(response.request),
                next: Result { try next.step(page, response) }
            )
        }.awaited
    }
}
