import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Provider: pages", .watched)
struct ProviderPagesTests {
    private struct Post: Codable, Equatable {
        let id: Int
    }

    private struct PostPage: Codable {
        let posts: [Post]
        let next: String?
    }

    private let target = TestTarget(path: "posts")

    /// A page with a link to the next one.
    private static func page(_ body: String = "[]", link: String?) -> ScriptedTransport.Step {
        var headers: HTTPFields = [:]
        if let link, let name = HTTPField.Name("Link") { headers[name] = link }
        return .status(200, headers: headers, body: body)
    }

    private func statuses(_ pages: Provider<TestTarget>.Pages<PipelineResponse>) async -> ([Int], PipelineError?) {
        var statuses: [Int] = []
        let error = await pipelineError {
            for try await page in pages { statuses.append(page.statusCode) }
        }
        return (statuses, error)
    }

    @Test("A Link field leads from page to page, and a page without one is the last")
    func linkHeader() async throws {
        let transport = ScriptedTransport([
            Self.page(
                #"[{"id": 1}]"#,
                link: #"<https://api.example.com/v1/posts?page=2>; rel="next", <x>; rel="last""#
            ),
            Self.page(#"[{"id": 2}, {"id": 3}]"#, link: "<?page=3>; rel=next"),
            Self.page(#"[{"id": 4}]"#, link: "</v1/posts?page=1>; rel=prev"),
        ])
        let provider = Provider<TestTarget>(transport: transport)
        var ids: [[Int]] = []
        for try await posts in provider.pages(target, of: [Post].self) { ids.append(posts.map(\.id)) }
        #expect(ids == [[1], [2, 3], [4]])
        #expect(transport.sent.map(\.head.path) == ["/v1/posts", "/v1/posts?page=2", "/v1/posts?page=3"])
    }

    @Test("Later pages keep the method, header fields, body and options; the link replaces the path and query")
    func keeps() async throws {
        let transport = ScriptedTransport([Self.page(link: "</found/2?a=b>; rel=next"), Self.page(link: nil)])
        let seen = Journal()
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [.willSend { _, context in seen.add(context.options[SampleOption.self]) }]
        )
        let search = TestTarget(
            path: "search",
            method: .post,
            task: .requestCompositeData(bodyData: Data("q".utf8), urlParameters: ["size": 9]),
            headers: ["Authorization": "Bearer t"]
        )
        let options = RequestOptions { $0[SampleOption.self] = "mine" }
        let (pages, error) = await statuses(provider.pages(search, options: options))
        #expect(pages == [200, 200] && error == nil)
        #expect(transport.sent.map(\.head.path) == ["/v1/search?size=9", "/found/2?a=b"])
        for sent in transport.sent {
            #expect(sent.method == .post && sent.body.bytes == Data("q".utf8))
            #expect(sent.headers[.authorization] == "Bearer t")
        }
        #expect(seen.entries == ["mine", "mine"])
    }

    @Test("A relative link is resolved against the final URL after a redirect")
    func redirected() async {
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "/moved/here/posts"]), Self.page(link: "<more?page=2>; rel=next"),
            Self.page(link: nil),
        ])
        let (pages, error) = await statuses(Provider<TestTarget>(transport: transport).pages(target))
        #expect(pages == [200, 200] && error == nil)
        #expect(transport.sent.last?.head.path == "/moved/here/more?page=2")
    }

    @Test(
        "A link to another origin ends the pages with pagination.origin after its page, and nothing is sent there",
        arguments: [
            "https://evil.example/v1/posts?page=2", "http://api.example.com/v1/posts?page=2", "//evil.example/",
            "https://api.example.com:8443/v1/posts?page=2",
        ]
    )
    func origin(link: String) async {
        let transport = ScriptedTransport(always: Self.page(link: "<\(link)>; rel=next"))
        let (pages, error) = await statuses(Provider<TestTarget>(transport: transport).pages(target))
        #expect(pages == [200])
        #expect(error?.code == .pagination(.origin))
        #expect(transport.sent.count == 1)
    }

    @Test("A redirect to another origin does not allow links to that origin")
    func redirectedAway() async {
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "https://other.example/posts"]), Self.page(link: "<?page=2>; rel=next"),
        ])
        let (pages, error) = await statuses(Provider<TestTarget>(transport: transport).pages(target))
        #expect(pages == [200] && error?.code == .pagination(.origin))
        #expect(transport.sent.count == 2)
    }

    @Test(
        "A link to an earlier page ends the pages with pagination.loop",
        arguments: [["<posts>"], ["<?page=2>", "<posts>"], ["<?page=2>", "<?page=3>", "<?page=2>"]]
    )
    func loop(links: [String]) async {
        let transport = ScriptedTransport(links.map { Self.page(link: $0 + "; rel=next") })
        let (pages, error) = await statuses(Provider<TestTarget>(transport: transport).pages(target))
        #expect(pages.count == links.count)
        #expect(error?.code == .pagination(.loop))
    }

    @Test(
        "A link that is not an http URL ends the pages with pagination.link",
        arguments: ["<mailto:a@b>", "<https://:0/>", "<>"]
    )
    func badLink(link: String) async {
        let transport = ScriptedTransport(always: Self.page(link: link + "; rel=next"))
        let (pages, error) = await statuses(Provider<TestTarget>(transport: transport).pages(target))
        #expect(pages == [200] && error?.code == .pagination(.link))
    }

    @Test("More than maximumPageCount pages end with pagination.tooMany; exactly as many do not")
    func limit() async {
        let endless = ScriptedTransport { _, index in Self.page(link: "<?page=\(index + 2)>; rel=next") }
        let (pages, error) = await statuses(Provider<TestTarget>(transport: endless).pages(target, maximumPageCount: 3))
        #expect(pages.count == 3 && error?.code == .pagination(.tooMany))
        #expect(endless.sent.count == 3)
        let short = ScriptedTransport([Self.page(link: "<?page=2>; rel=next"), Self.page(link: nil)])
        let (all, none) = await statuses(Provider<TestTarget>(transport: short).pages(target, maximumPageCount: 2))
        #expect(all.count == 2 && none == nil)
    }

    @Test("The cursor of a decoded page determines the target of the next page")
    func cursor() async throws {
        let transport = ScriptedTransport([
            .status(200, body: #"{"posts": [{"id": 1}], "next": "b"}"#), .status(200, body: #"{"posts": [{"id": 2}]}"#),
        ])
        let provider = Provider<TestTarget>(transport: transport)
        let pages = provider.pages(
            target,
            of: PostPage.self,
            next: .cursor({ $0.next }, target: { TestTarget(path: "posts/\($0)") })
        )
        var ids: [Int] = []
        for try await page in pages { ids += page.posts.map(\.id) }
        #expect(ids == [1, 2])
        #expect(transport.sent.map(\.head.path) == ["/v1/posts", "/v1/posts/b"])
    }

    @Test("A repeated cursor ends the pages with pagination.loop")
    func cursorLoop() async {
        let transport = ScriptedTransport(always: .status(200, body: "7"))
        let next = Provider<TestTarget>.NextPage<PipelineResponse>.cursor(
            { try $0.mapString() },
            target: { TestTarget(path: "posts/\($0)") }
        )
        let (pages, error) = await statuses(Provider<TestTarget>(transport: transport).pages(target, next: next))
        #expect(pages.count == 2 && error?.code == .pagination(.loop))
    }

    @Test("No page follows a thrown error")
    func errors() async throws {
        let transport = ScriptedTransport([Self.page("[]", link: "<?page=2>; rel=next"), Self.page("{", link: nil)])
        let provider = Provider<TestTarget>(transport: transport)
        var iterator = provider.pages(target, of: [Post].self).makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first == [])
        let error = await pipelineError { _ = try await iterator.next() }
        #expect(error?.code.isKind(of: .mapping) == true)
        let afterError = try await iterator.next()
        #expect(afterError == nil && transport.sent.count == 2)
    }

    @Test("An error thrown by a cursor closure is rethrown unchanged, after the page")
    func closureError() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(200)))
        var iterator = provider.pages(
            target,
            next: .cursor({ _ -> Int? in throw TestFailure() }, target: { _ in TestTarget() })
        ).makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first?.statusCode == 200)
        do {
            _ = try await iterator.next()
            Issue.record("the closure's error is lost")
        } catch {
            #expect(error is TestFailure)
        }
    }

    @Test("Nothing is sent before a page is requested, and nothing after the reader stops")
    func lazy() async throws {
        let transport = ScriptedTransport { _, index in Self.page(link: "<?page=\(index + 2)>; rel=next") }
        let pages = Provider<TestTarget>(transport: transport).pages(target)
        #expect(transport.sent.isEmpty)
        for try await _ in pages.prefix(2) {}
        #expect(transport.sent.count == 2)
    }
}
