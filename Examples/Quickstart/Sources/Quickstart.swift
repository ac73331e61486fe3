import Foundation
import PipelineInspector
import PipelineRecording
import Synchronization

/// Starts a server with five APIs and calls them: with plugins, despite failures, as streams and downloads, and in the
/// fluent style.
///
/// Prints three results; with `--all`, also what the other parts do.
@main
struct Quickstart {
    static func main() async {
        do {
            let clock = ContinuousClock()
            let duration = try await clock.measure(run)
            let tenths = Int(duration / .milliseconds(100))
            print("\n" + styled("All results are as expected, after \(tenths / 10).\(tenths % 10) s.", .green))
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
        say("  Open it in a browser: \(page.path)")
    }

    /// Shows three results in full, and the rest with `--all`.
    private static func runTours(_ origin: String, _ inspector: InspectorPlugin) async throws {
        let badDay = BadDayTour(origin: origin, inspector)
        try await badDay.runHeadlines()
        try await OutageTour().run()
        let isAll = CommandLine.arguments.contains("--all")
        try await Detail.$isShown.withValue(isAll) {
            try await Tour(origin: origin, inspector).run()
            try await badDay.run()
            try await ResilienceTour().run()
            try await NewsTour(origin: origin, inspector).run()
            try await JournalTour(origin: origin, inspector).run()
        }
        let count = Detail.hiddenPartCount.withLock { $0 }
        if count > 0 { print("\n\(count) more parts ran and were checked. To see them: scripts/quickstart --all") }
    }
}
