import Foundation
import PipelineInspector
import PipelineRecording

/// Starts a server with five APIs and calls them: with plugins, despite failures, as streams and downloads, and in the
/// fluent style.
///
/// Prints three results and the headings of the other parts; with `--all`, also what those parts do.
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
            result = .success(try await runTours(server.origin, inspector))
        } catch {
            result = .failure(error)
        }
        await server.stop()
        let page = try await inspector.page()
        try result.get()
        heading("All calls as a page: InspectorPlugin")
        show("page", page.path)
    }

    /// Shows three results in full, and the rest with `--all`.
    private static func runTours(_ origin: String, _ inspector: InspectorPlugin) async throws {
        let badDay = BadDayTour(origin: origin, inspector)
        try await badDay.runHeadlines()
        try await OutageTour().run()
        let isAll = CommandLine.arguments.contains("--all")
        if !isAll { print("\n" + styled("Also done and checked; scripts/quickstart --all shows it", .bold)) }
        try await Detail.$isShown.withValue(isAll) {
            try await Tour(origin: origin, inspector).run()
            try await badDay.run()
            try await ResilienceTour().run()
            try await NewsTour(origin: origin, inspector).run()
            try await JournalTour(origin: origin, inspector).run()
        }
    }
}
