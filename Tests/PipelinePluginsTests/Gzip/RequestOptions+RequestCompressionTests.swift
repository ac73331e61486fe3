import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: the request option", .watched)
struct RequestOptionsRequestCompressionTests: GzipSending {
    let transport = ScriptedTransport(always: .status(200))
    private let json = GzipBytes.json(20_000)

    @Test(
        "The plugin's setting applies unless the request sets its own",
        arguments: [
            (GzipPlugin.RequestCompression.always, nil, true), (.whenOffered, nil, false), (.never, nil, false),
            (.always, .never, false), (.always, .whenOffered, false), (.never, .always, true),
        ] as [(GzipPlugin.RequestCompression, GzipPlugin.RequestCompression?, Bool)]
    )
    func setting(
        plugin: GzipPlugin.RequestCompression,
        request: GzipPlugin.RequestCompression?,
        isCompressed: Bool
    ) async throws {
        let options = RequestOptions { $0.requestCompression = request }
        let fields = ["Content-Type": "text/plain"]
        let stack = [GzipPlugin(requestCompression: plugin)]
        let whole = try await sent(.requestData(json), stack, headers: fields, options: options)
        #expect(whole.headers.contains(.contentEncoding) == isCompressed)
        let pieces = RequestTask.requestStream(.stream(Pieces(json, of: 1_000)))
        let streamed = try await sent(pieces, stack, headers: fields, options: options)
        #expect(streamed.headers.contains(.contentEncoding) == isCompressed)
        #expect(RequestOptions().requestCompression == nil)
    }
}
