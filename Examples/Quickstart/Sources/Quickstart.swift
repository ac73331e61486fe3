import Foundation
import PipelineInspector
import PipelineRecording

/// Starts a server with five APIs and calls them: with plugins, despite failures, as streams and downloads, and in the
/// fluent style.
@main
struct Quickstart {
    static func main() async {
        do {
            let clock = ContinuousClock()
            let duration = try await clock.measure(run)
            print("\n" + styled("All results are as expected, after \(milliseconds(duration)).", .green))
            print(
                "Next: open Examples/Quickstart/Sources/Tours/Tour.swift, which makes the first calls, and change one."
            )
        } catch {
            FileHandle.standardError.write(Data("\nquickstart failed: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run() async throws {
        let server = try await EmbeddedServer.start()
        let inspector = InspectorPlugin(.file(URL(filePath: "quickstart.html")))
        print("A server with five APIs listens on \(server.origin)")
        let result: Result<Void, any Error>
        do {
            try await Tour(origin: server.origin, inspector).run()
            try await BadDayTour(origin: server.origin, inspector).run()
            try await ResilienceTour().run()
            try await NewsTour(origin: server.origin, inspector).run()
            result = .success(try await JournalTour(origin: server.origin, inspector).run())
        } catch {
            result = .failure(error)
        }
        await server.stop()
        let page = try await inspector.page()
        try result.get()
        heading("All calls as a page: InspectorPlugin")
        show("page", page.path)
    }
}
