import Foundation
import Pipeline
import PipelineInspector
import PipelineRecording

/// A tour of other kinds of responses: an event stream, a download that stalls, and a recorded response.
struct NewsTour {
    private let origin: String
    private let provider: Provider<News>

    init(origin: String, _ inspector: InspectorPlugin) {
        self.origin = origin
        provider = Provider(
            transport: URLSessionTransport(),
            plugins: [inspector],
            configuration: .init(timeline: true)
        ) { Endpoint($0, at: origin) }
    }

    func run() async throws {
        try await readEvents()
        try await resumeDownload()
        try await recordAndReplay()
    }

    private func readEvents() async throws {
        heading("Server-Sent Events: the stream ends early, and the subscription reconnects")
        var texts: [String] = []
        for try await event in provider.serverSentEvents(.headlines) {
            let headline = try event.map(Headline.self)
            show("event \(event.id)", headline.text)
            texts.append(headline.text)
        }
        try expect(texts == NewsServer.headlines, "each headline arrives once")
    }

    private func resumeDownload() async throws {
        heading("A download that stalls: the second call requests the rest")
        let other = try TemporaryFile("other", Data())
        defer { other.remove() }
        let folder = other.url.deletingLastPathComponent()
        let destination = DownloadDestination.file(folder.appending(path: "yearbook"))
            .resumable(at: folder.appending(path: "yearbook.part"))
        do {
            let impatient = RequestOptions { $0.idleTimeout = .milliseconds(300) }
            _ = try await provider.request(.yearbook(destination), options: impatient)
            throw Unexpected("expected a timeout, but the incomplete download succeeded")
        } catch let error as PipelineError {
            show("first call", styled(error.code.rawValue, .red))
        }
        let response = try await provider.request(.yearbook(destination))
        show(response.exchanges)
        let content = try response.body.fileURL.map { try Data(contentsOf: $0) }
        show("file", "\(content?.count ?? 0) bytes")
        try expect(content == NewsServer.yearbook, "the file is complete")
    }

    private func recordAndReplay() async throws {
        heading("Recorded once, replayed without a network")
        let other = try TemporaryFile("other", Data())
        defer { other.remove() }
        let har = other.url.deletingLastPathComponent().appending(path: "bookshop.har")
        let recorder = try RecordingTransport(har, wrapping: URLSessionTransport())
        let recorded = try await book(through: recorder)
        try await recorder.finish()
        show("recorded", "\(recorded.title), \(har.lastPathComponent)")

        let replayed = try await book(through: try ReplayTransport(har))
        show("replayed", replayed.title)
        try expect(recorded.title == replayed.title, "the replayed response equals the recorded one")
    }

    private func book(through transport: any Transport) async throws -> Book {
        let origin = origin
        let provider = Provider<Bookshop>(transport: transport) { Endpoint($0, at: origin) }
        return try await provider.request(.book(id: 3), as: Book.self)
    }
}
