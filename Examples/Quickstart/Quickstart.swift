import Foundation

/// Starts a server with four APIs, talks to them on a good day, on a bad one and in the fluent style, stops the server.
@main
struct Quickstart {
    static func main() async {
        do {
            let clock = ContinuousClock()
            let duration = try await clock.measure(run)
            print("\nAll as expected, in \(milliseconds(duration)).")
        } catch {
            FileHandle.standardError.write(Data("\nquickstart failed: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run() async throws {
        let server = try await EmbeddedServer.start()
        print("Four APIs listen on \(server.origin)")
        let result: Result<Void, any Error>
        do {
            try await Tour(origin: server.origin).run()
            try await BadDayTour(origin: server.origin).run()
            result = .success(try await JournalTour(origin: server.origin).run())
        } catch {
            result = .failure(error)
        }
        await server.stop()
        try result.get()
    }
}
