import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("ValidationType", .watched)
struct ValidationTypeTests {
    static let rows: [(ValidationType, accepted: [Int], refused: [Int])] = [
        (.anyStatus, [100, 200, 304, 404, 500, 999], []),
        (.successCodes, [200, 204, 299], [100, 199, 300, 304, 404, 500]),
        (.successAndRedirectCodes, [200, 299, 300, 304, 399], [100, 199, 400, 500]),
        (.customCodes([201, 404]), [201, 404], [200, 202, 403, 500]),
        (.customCodes(200..<203), [200, 202], [199, 203]),
        (.customCodes([]), [], [100, 200, 404, 500]),
    ]

    @Test("M128 Each validation type accepts exactly its statuses", arguments: 0..<rows.count)
    func statuses(_ row: Int) async throws {
        let (type, accepted, refused) = Self.rows[row]
        let target = try SampleTarget { $0.validationType = type }
        for status in accepted {
            #expect(type.accepts(status))
            let provider = Provider<SampleTarget>(transport: ScriptedTransport([.status(status)]))
            #expect(try await provider.request(target).statusCode == status)
        }
        for status in refused {
            #expect(!type.accepts(status))
            let provider = Provider<SampleTarget>(transport: ScriptedTransport([.status(status)]))
            let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.response?.statusCode == status)
        }
    }

    private static let file = URL(filePath: "/nowhere/file")

    private static let forms:
        [(String, isLoose: Bool, @Sendable (Provider<MultiTarget>, SampleTarget) async throws -> Void)] = [
            ("request", true, { _ = try await $0.request($1) }),
            (
                "a callback", true,
                { provider, target in
                    _ = try await withCheckedContinuation { continuation in
                        provider.request(target) { continuation.resume(returning: $0) }
                    }.get()
                }
            ),
            ("progress", true, { for try await _ in $0.requestWithProgress($1) {} }),
            ("send", false, { try await $0.send($1) }),
            ("a decoded value", false, { _ = try await $0.request($1, as: [Int].self) }),
            ("pages", false, { for try await _ in $0.pages(MultiTarget($1), of: [Int].self) {} }),
            ("a stream", false, { _ = try await $0.stream($1) }),
            (
                "a download", false,
                { provider, target in
                    var target = target
                    target.task = .downloadDestination(.file(Self.file))
                    _ = try await provider.request(target)
                }
            ),
        ]

    @Test(
        "A target that leaves it to the call accepts every status for a response in memory, else 200 to 299",
        arguments: 0..<forms.count
    )
    func automatic(row: Int) async throws {
        let (name, isLoose, perform) = Self.forms[row]
        let target = try SampleTarget { $0.validationType = .automatic }
        for status in [404, 500, 304] {
            let provider = Provider<MultiTarget>(transport: ScriptedTransport([.status(status, body: "[1]")]))
            let error = await pipelineError { try await perform(provider, target) }
            #expect(error?.code == (isLoose ? nil : .unacceptableStatus), "\(name): \(status)")
        }
        guard name != "a download" else { return }
        let provider = Provider<MultiTarget>(transport: ScriptedTransport([.status(201, body: "[1]")]))
        try await perform(provider, target)
    }

    @Test("What a target says about statuses counts for every call, also for its effect")
    func explicit() async throws {
        let provider = Provider<SampleTarget>(transport: ScriptedTransport(always: .status(404, body: "[1]")))
        try await provider.send(SampleTarget { $0.validationType = .anyStatus })
        #expect(
            try await provider.request(SampleTarget { $0.validationType = .customCodes([404]) }, as: [Int].self) == [1]
        )
    }

    @Test("A plugin sees what a call accepts, never that the target leaves it to the call")
    func context() async throws {
        let seen = Journal()
        let provider = Provider<SampleTarget>(
            transport: ScriptedTransport(always: .status(200, body: "[1]")),
            plugins: [.didFinish { _, context in seen.add("\(context.validationType)") }]
        )
        let target = try SampleTarget { $0.validationType = .automatic }
        _ = try await provider.request(target)
        try await provider.send(target)
        _ = try await provider.request(SampleTarget { $0.validationType = .customCodes([200]) })
        #expect(seen.entries == ["any status", "200…299", "200"])
    }

    @Test("The error for a refused status lists the accepted ones, or the first of many")
    func description() async throws {
        let many = ValidationType.customCodes(200..<250)
        let kinds: [ValidationType] = [
            .successCodes, .successAndRedirectCodes, .customCodes([204, 200]), many, .anyStatus, .automatic,
        ]
        #expect(
            kinds.map { "\($0)" } == [
                "200…299", "200…399", "200, 204", "200, 201, 202, 203, 204, 205, 206, 207, …", "any status",
                "automatic",
            ]
        )
        let provider = Provider<SampleTarget>(transport: ScriptedTransport([.status(201)]))
        let target = try SampleTarget { $0.validationType = .customCodes([204, 200]) }
        let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
        #expect(error?.reason == "got 201, expected 200, 204")
    }

    @Test("An empty list of statuses is not the same as any status")
    func emptyList() {
        #expect(ValidationType.customCodes([]) != .anyStatus)
        #expect(ValidationType.customCodes([]) == .customCodes(Set<Int>()))
        #expect("\(ValidationType.customCodes([]))" == "no status")
    }

    @Test("M129 A refused status fails with an error that has the response and its body, and the next call works")
    func refusedBody() async throws {
        let transport = ScriptedTransport([.status(404, body: "gone CANARY"), .status(200)])
        let provider = Provider<SampleTarget>(transport: transport)
        let target = try SampleTarget { $0.validationType = .successCodes }
        let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
        #expect(try error?.response?.mapString() == "gone CANARY")
        #expect(error?.request?.host == "example.com")
        #expect(error?.exchanges.count == 1)
        #expect(error?.description.contains("CANARY") == false)
        #expect(error?.description.contains("404") == true)
        #expect(try await provider.request(target).statusCode == 200)
    }

    @Test("M129 A streamed response with a refused status fails with an error that has the body")
    func refusedStream() async throws {
        let body = PipelineBody.stream(
            AsyncStream {
                $0.yield(Data("gone".utf8))
                $0.finish()
            }
        )
        // The time limit for reading the body of a refused response uses the clock.
        let provider = Provider<SampleTarget>(
            transport: ScriptedTransport([.status(500, body: body)]),
            configuration: .init(clock: ManualClock())
        )
        let target = try SampleTarget { $0.validationType = .successCodes }
        let error = await #expect(throws: PipelineError.self) { try await provider.stream(target) }
        #expect(try error?.response?.mapString() == "gone")
    }

    @Test("M130 Without validation, 404 and 500 are returned as responses", arguments: [404, 500])
    func noValidation(_ status: Int) async throws {
        let provider = Provider<SampleTarget>(transport: ScriptedTransport([.status(status)]))
        #expect(try await provider.request(SampleTarget()).statusCode == status)
    }
}
