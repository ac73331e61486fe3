import Foundation
import HTTPTypes
import PipelineCore

extension PluginCheck {
    private static let canaries = [
        (place: "the query", text: "canary-in-query"),
        (place: "a header field of the request", text: "canary-in-field"),
        (place: "Authorization", text: "canary-in-authorization"),
        (place: "the body of the request", text: "canary-in-body"),
        (place: "a header field of the response", text: "canary-in-cookie"),
        (place: "the body of the response", text: "canary-in-answer"),
    ]

    static let secrets: @Sendable (PluginBench) async -> [String] = { bench in
        let probe = PluginProbe(
            query: "?token=canary-in-query",
            task: .requestData(Data("password=canary-in-body".utf8)),
            headers: [
                "Authorization": "Bearer canary-in-authorization", "X-Api-Key": "canary-in-field",
                "Content-Type": "application/x-www-form-urlencoded",
            ],
            validationType: .successCodes
        )
        let fields: HTTPFields = [.setCookie: "id=canary-in-cookie", .contentType: "text/plain"]
        let steps: [ScriptedTransport.Step] = [
            .status(200, headers: fields, body: "canary-in-answer"),
            .status(500, headers: fields, body: "canary-in-answer"),
            .failure(.connectionLost),
        ]
        var leaks: Set<String> = []
        for step in steps {
            guard case .failure(let error) = await bench.outcome(of: probe, step) else { continue }
            var text = "\(error) \(String(reflecting: error)) \(error.localizedDescription) "
            dump(error, to: &text)
            leaks.formUnion(canaries.filter { text.contains($0.text) }.map(\.place))
        }
        return leaks.sorted().map { "an error shows \($0)" }
    }
}
