import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Pagination.
enum PaginationSamples {
    // sample: target
    enum Forge: TargetType {
        case repos
        case events(after: String?)

        var baseURL: URL { Endpoint.url("https://api.forge.example") }
        var path: String {
            switch self {
            case .repos: "repos"
            case .events: "events"
            }
        }
        var method: HTTPMethod { .get }
        var task: RequestTask {
            switch self {
            case .repos: .requestQuery(["per_page": 100])
            case .events(let cursor): .requestQuery(["after": cursor])
            }
        }
    }
    // end

    struct Repo: Decodable {
        let name: String
    }

    static func links(_ provider: Provider<Forge>) async throws {
        // sample: links
        for try await repos in provider.pages(.repos, of: [Repo].self) {
            print(repos.map(\.name))
        }
        // end
    }

    struct Event: Decodable {
        let id: Int
    }

    // sample: cursor
    struct EventPage: Decodable {
        let events: [Event]
        let next: String?
    }

    static func events(_ provider: Provider<Forge>) -> Provider<Forge>.Pages<EventPage> {
        provider.pages(
            .events(after: nil),
            of: EventPage.self,
            next: .cursor({ page in page.next }, target: { cursor in .events(after: cursor) })
        )
    }
    // end

    // sample: pager
    @MainActor final class Feed {
        private(set) var events: [Event] = []
        private var isLoading = false
        private let pager: Provider<Forge>.Pager<EventPage>

        init(_ provider: Provider<Forge>) { pager = PaginationSamples.events(provider).makePager() }

        func loadMore() async throws {
            guard !isLoading else { return }  // two triggers load one page
            isLoading = true
            defer { isLoading = false }
            try await load()
        }

        func refresh() async throws {
            await pager.reset()  // a load that is under way throws CancellationError
            try await load()
        }

        private func load() async throws {
            let isFirst = await pager.current == nil
            guard let page = try await pager.next() else { return }
            events = isFirst ? page.events : events + page.events
        }
    }
    // end

    static func responses(_ provider: Provider<Forge>) async throws {
        // sample: responses
        let pages = provider.pages(
            .events(after: nil),
            next: .cursor({ response in response.header("X-Next") }, target: { cursor in .events(after: cursor) })
        )
        for try await response in pages.prefix(3) {
            print(response.statusCode, response.data.count)
        }
        // end
    }

    static func errors(_ provider: Provider<Forge>) async throws {
        // sample: errors
        do {
            for try await repos in provider.pages(.repos, of: [Repo].self, maximumPageCount: 20) {
                print(repos.count)
            }
        } catch let error as PipelineError where error.code.isKind(of: .pagination) {
            print("the list is incomplete:", error)
        }
        // end
    }
}

@Suite("The guide Pagination", .watched)
struct PaginationSampleTests {
    @Test("Two triggers load one page, and a refresh that fails keeps the list") @MainActor
    func feed() async throws {
        func page(_ id: Int) -> ScriptedTransport.Step {
            .status(200, body: #"{"events": [{"id": \#(id)}], "next": "c"}"#)
        }
        let transport = ScriptedTransport([page(1), page(2), .status(500), page(3)])
        let feed = PaginationSamples.Feed(Provider(transport: transport))
        try await feed.loadMore()
        async let first: Void = feed.loadMore()
        async let second: Void = feed.loadMore()
        _ = try await (first, second)
        #expect(feed.events.map(\.id) == [1, 2])
        await #expect(throws: PipelineError.self) { try await feed.refresh() }
        #expect(feed.events.map(\.id) == [1, 2])
        try await feed.loadMore()
        #expect(feed.events.map(\.id) == [3])
    }

    // sample: test
    @Test("The events of all pages come in order")
    func events() async throws {
        let transport = ScriptedTransport([
            .status(200, body: #"{"events": [{"id": 1}], "next": "b"}"#),
            .status(200, body: #"{"events": [{"id": 2}]}"#),
        ])
        var ids: [Int] = []
        for try await page in PaginationSamples.events(Provider(transport: transport)) {
            ids += page.events.map(\.id)
        }
        #expect(ids == [1, 2])
        #expect(transport.sent.map(\.query) == [nil, "after=b"])
    }
    // end
}
