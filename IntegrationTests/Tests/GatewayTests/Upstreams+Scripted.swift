import Pipeline
import PipelineTesting

@testable import gateway

extension Upstreams {
    /// Upstreams that only a scripted transport knows.
    static let scripted = Upstreams(
        catalog: Endpoint.url("http://catalog.test"),
        prices: Endpoint.url("http://prices.test"),
        reviews: Endpoint.url("http://reviews.test")
    )

    static func document(for path: String) -> String {
        switch path.split(separator: "/").first {
        case "catalog": #"{"title": "Lamp"}"#
        case "prices": #"{"cents": 990, "currency": "EUR"}"#
        default: #"[{"stars": 5, "text": "Bright."}]"#
        }
    }

    static func step(for request: PipelineRequest) -> ScriptedTransport.Step {
        .status(200, body: document(for: request.head.path ?? ""))
    }
}
