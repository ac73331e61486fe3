import Foundation
import Pipeline
import PipelineRecording
import PipelineReplayTesting
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Recording.
@Suite("Samples of recordings", .watched)
enum RecordingSamples {
    enum GitHub: TargetType {
        case zen
        case search(page: Int)

        var baseURL: URL { Endpoint.url("https://api.github.example") }
        var path: String {
            switch self {
            case .zen: "zen"
            case .search(let page): "search/\(page)"
            }
        }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    struct Tests {
        // sample: test
        @Test("The zen of GitHub is a sentence", .replay("github"))
        func zen() async throws {
            let provider = Provider<GitHub>(transport: .replay)
            #expect(try await provider.request(.zen).mapString().hasSuffix("."))
        }
        // end
    }

    static func zen() async throws -> String {
        // sample: function
        let zen = try await withReplay("github") { transport in
            try await Provider<GitHub>(transport: transport).request(.zen).mapString()
        }
        // end
        return zen
    }

    @Test("The function replays the same recording as the trait")
    static func function() async throws {
        #expect(try await zen().hasSuffix("."))
    }

    static func record(_ file: URL) async throws {
        // sample: record
        let recorder = try RecordingTransport(file, wrapping: URLSessionTransport(), mode: .recordNew)
        let provider = Provider<GitHub>(transport: recorder)
        print(try await provider.request(.zen).mapString())
        try await recorder.finish()
        // end
    }

    static func replay(_ file: URL) async throws {
        // sample: replay
        let replay = try ReplayTransport(file, atEnd: .repeatLast)
        let provider = Provider<GitHub>(transport: replay)
        print(try await provider.request(.zen).mapString())
        try replay.recording.assertAllUsed()
        // end
    }

    static func matching(_ file: URL) throws -> ReplayTransport {
        // sample: matching
        let matching = RequestMatching.standard.ignoring(query: ["ts"]).ignoring(body: ["nonce"]) + [.header(.accept)]
        let replay = try ReplayTransport(file, matching: matching)
        // end
        return replay
    }

    static func secrets(_ file: URL, clientSecret: String) throws -> RecordingTransport {
        // sample: secrets
        let redactor = Redactor.standard.adding(secretValues: [clientSecret]).adding(plainNames: ["theme"])
        let recorder = try RecordingTransport(file, wrapping: URLSessionTransport(), redactor: redactor)
        // end
        return recorder
    }

    static func time(_ file: URL) throws -> ReplayTransport {
        // sample: time
        let expiry = RecordingExpiry.after(.seconds(90 * 86_400), .warn { print("\($0) is old") })
        let replay = try ReplayTransport(file, pace: .scaled(0.1), expiry: expiry)
        // end
        return replay
    }
}
