import Pipeline
import PipelineInspector
import PipelineRecording

/// A tour of the package, step by step.
struct Tour {
    /// The plugins for both APIs, outermost first.
    let plugins: [any PluginType]

    /// The provider for both APIs.
    ///
    /// Its endpoint closure directs requests to the embedded server.
    let provider: Provider<MultiTarget>

    init(origin: String, _ inspector: InspectorPlugin) {
        plugins = [
            inspector,
            LoggingPlugin(level: .info, handler: printLog),
            AccessTokenPlugin { _ in BookshopServer.token },
            .prepare(name: "user agent") { request, _ in request.headers[.userAgent] = "quickstart/1.0" },
        ]
        provider = Provider(
            transport: URLSessionTransport(),
            plugins: plugins,
            configuration: .init(timeline: true)
        ) { Endpoint($0, at: origin) }
    }

    func run() async throws {
        try explainStack()
        try await decodeAnswers()
        try await sendToken()
        try await followRedirect()
        try await meetTypedError()
        try await meetDecodingError()
        try await callBack()
        try await answerFromStub()
    }

    private func explainStack() throws {
        heading("The plugin stack, as provider.explain() describes it")
        say("\(provider.explain())")
        let token = AccessTokenPlugin { _ in BookshopServer.token }
        // Without a policy of its own, a provider writes its findings to the log or to standard error.
        let configuration = ProviderConfiguration(findings: .report { _ in })
        let misplaced = Provider<Weather>(
            transport: StubTransport(),
            plugins: [token, RetryPlugin()],
            configuration: configuration
        )
        heading("A stack in the wrong order, with the finding of explain()")
        say("\(misplaced.explain())")
        let findings = misplaced.explain().findings
        try expect(findings.map(\.id) == ["retry-inside-credential"], "explain() reports a retry plugin inside a token")
    }

    private func decodeAnswers() async throws {
        heading("Two APIs, decoded responses")
        let books = try await provider.request(Bookshop.books(author: "Le Guin"), as: [Book].self)
        for book in books { show("book \(book.id)", book.title) }
        try expect(books.map(\.id) == [1, 2], "the bookshop has two books of this author")

        let forecast = try await provider.requestDecoded(Weather.tomorrow(city: "Köln"))
        show("tomorrow", "\(forecast.city), \(forecast.sky), \(forecast.degrees) °C")
        try expect(forecast.city == "Köln", "the response names the city of the request")
    }

    private func sendToken() async throws {
        heading("An order with an access token, which is hidden in the output")
        let response = try await provider.request(Bookshop.order(Order(book: 2, copies: 3)))
        let receipt = try response.map(Receipt.self, atKeyPath: "receipt")
        show("receipt", "number \(receipt.number), \(receipt.copies) copies")
        showCommand(response.request.curlCommand())
        try expect(response.statusCode == 201 && receipt.copies == 3, "the order is accepted")
        try expect(response.request.headers[.authorization] != nil, "the order has an access token")
        try expect(!response.request.curlCommand().contains(BookshopServer.token), "the cURL command hides the token")
    }

    private func followRedirect() async throws {
        heading("A followed redirect: one call, two exchanges")
        let response = try await provider.request(Bookshop.bestseller)
        show("bestseller", try response.map(Book.self).title)
        show(response.exchanges)
        try expect(response.exchanges.map(\.statusCode) == [302, 200], "the redirect is followed")
        try expect(response.request.headers[.authorization] == nil, "a request for a book has no token")
    }

    private func meetTypedError() async throws {
        heading("A typed error")
        do {
            let book = try await provider.request(Bookshop.book(id: 99), as: Book.self)
            throw Unexpected("expected status 404 for book 99, received the book \(book.title)")
        } catch let error as PipelineError where error.code == .unacceptableStatus {
            show("error", styled("\(error)", .red))
            let reason = try error.response?.mapString(atKeyPath: "reason")
            show("server reason", reason ?? "none")
            try expect(error.response?.statusCode == 404 && reason == "no such book", "the error has the response")
        }
    }

    private func meetDecodingError() async throws {
        heading("A response that cannot be decoded: the error shows where")
        do {
            _ = try await provider.request(Bookshop.book(id: 3), as: Receipt.self)
            throw Unexpected("expected a decoding error, but a book was decoded as a receipt")
        } catch let error as PipelineError where error.code.isKind(of: .mapping) {
            show("error", styled("\(error)", .red))
            try expect(error.response?.statusCode == 200, "the error has the response")
        }
    }

    private func callBack() async throws {
        heading("A call with a callback")
        let result = await withCheckedContinuation { continuation in
            provider.request(Weather.today(city: "Oslo")) { continuation.resume(returning: $0) }
        }
        let forecast = try result.get().map(Forecast.self)
        show("today", "\(forecast.city), \(forecast.sky), \(forecast.degrees) °C")
        try expect(forecast.city == "Oslo", "the callback receives the forecast for Oslo")
    }

    private func answerFromStub() async throws {
        heading("The same stack over a stub transport, without a network")
        let stubbed = Provider<MultiTarget>(transport: StubTransport(), plugins: plugins)
        let book = try await stubbed.request(Bookshop.book(id: 7), as: Book.self)
        show("book \(book.id)", book.title)
        try expect(book.author == "Nobody", "the stub responds with the target's sample data")
    }
}
