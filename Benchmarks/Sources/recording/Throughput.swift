import Foundation
import Pipeline
import PipelineRecording

/// Measures how many calls per second are replayed and recorded, compared with a stub that returns the same responses.
@main
struct Throughput {
    static let entryCount = 1_000

    /// A target whose response is about 1 KiB of JSON for each number.
    struct Item: TargetType {
        let number: Int

        var baseURL: URL { Self.base }
        var path: String { "items/\(number)" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var sampleData: Data { Self.sample }

        static let base = URL(string: "https://api.example.com/v1") ?? URL(fileURLWithPath: "/")
        static let sample = Data(
            "[\((0..<20).map { #"{"id":\#($0),"name":"Brass lamp","price":12.5}"# }.joined(separator: ","))]".utf8
        )
    }

    /// An operation on all entries.
    struct Work {
        let name: String
        let run: () async throws -> Void
    }

    struct WrongAnswer: Error {}

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.isEmpty || Array(arguments) == ["--quick"] else {
            print("usage: recording [--quick]")
            exit(2)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await print(table(of: measure(makeWorks(folder), rounds: arguments.isEmpty ? 21 : 1)))
    }

    static func makeWorks(_ folder: URL) async throws -> [Work] {
        let file = folder.appending(path: "items.har")
        try await record(to: file)
        let stub = Provider<Item>(transport: StubTransport())
        let replay = Provider<Item>(transport: try ReplayTransport(file, atEnd: .cycle))
        let fresh = folder.appending(path: "fresh.har")
        return [
            Work(name: "answered by a stub") { try await callAll(stub) },
            Work(name: "replayed") { try await callAll(replay) },
            Work(name: "recorded and written") { try await record(to: fresh) },
            Work(name: "loaded") { _ = try ReplayTransport(file) },
        ]
    }

    static func record(to file: URL) async throws {
        let transport = try RecordingTransport(file, wrapping: StubTransport(), mode: .recordAll)
        try await callAll(Provider<Item>(transport: transport))
        try await transport.finish()
    }

    static func callAll(_ provider: Provider<Item>) async throws {
        for number in 0..<entryCount {
            guard try await provider.request(Item(number: number)).data == Item.sample else { throw WrongAnswer() }
        }
    }

    /// Measures each work in turn, and reverses the order every other round.
    ///
    /// The first round is a warm-up.
    static func measure(_ works: [Work], rounds: Int) async throws -> [(name: String, seconds: [Double])] {
        var times = works.map { (name: $0.name, seconds: [Double]()) }
        for round in 0...rounds {
            let order = Array(works.indices)
            for index in round.isMultiple(of: 2) ? order : order.reversed() {
                let start = ContinuousClock.now
                try await works[index].run()
                if round > 0 { times[index].seconds.append(start.duration(to: .now) / .seconds(1)) }
            }
        }
        return times
    }

    /// Returns a table with the medians of entries per second and of the rounds' ratios to the stub.
    static func table(of times: [(name: String, seconds: [Double])]) -> String {
        var lines = [row("\(entryCount) entries of 1 KiB", "per second", "of the stub")]
        for (name, seconds) in times {
            let ratios = zip(times[0].seconds, seconds).map { $0 / $1 }
            let rate = Double(entryCount) / median(seconds)
            lines.append(row(name, String(format: "%.0f", rate), String(format: "%.3f", median(ratios))))
        }
        return lines.joined(separator: "\n")
    }

    static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    static func row(_ name: String, _ columns: String...) -> String {
        func pad(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) }
        return name + pad(name, 30) + columns.map { pad($0, 13) + $0 }.joined()
    }
}
