import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("PipelineError: message", .tags(.concurrent), .watched)
struct PipelineErrorMessageTests {
    private static let missing = "This item does not exist. Check its name or address."
    private static let refused = "The server did not accept the request. Check what you entered, or update the app."

    @Test(
        "C46 With any provider, a request's text for a status or code wins over the client's and the server's"
    )
    func textPriority() async throws {
        var bench = APIBench(ScriptedTransport(always: .status(404)))
        bench.api.options.errorTexts = .client
        let request = APIRequest<IgnoredBody>("x")
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.customText == "client 404")
        let own = request.addCustomError(.notFound, "request 404")
        #expect(await pipelineError { _ = try await bench.api.send(own) }?.customText == "request 404")
        let byCode = request.addCustomError(.unacceptableStatus, "request code")
        #expect(await pipelineError { _ = try await bench.api.send(byCode) }?.customText == "request code")
        let others = request.addCustomError(.conflict, "request 409")
        #expect(await pipelineError { _ = try await bench.api.send(others) }?.customText == "client 404")
        let direct = own.serverURL(ServerURL(base: "https://example.com"))
        let thrown = await pipelineError { _ = try await bench.api.provider.requestDecoded(direct) }
        #expect(thrown?.customText == "request 404")
        let ofCall = RequestOptions { $0.errorTexts.set("call 404", for: .notFound) }
        for plugins: [any PluginType] in [[], [.prepare { _, _ in }]] {
            let provider = Provider<MultiTarget>(transport: bench.transport, plugins: plugins)
            let error = await pipelineError { _ = try await provider.requestDecoded(direct, options: ofCall) }
            #expect(error?.customText == "call 404")
        }
        bench.api.options.errorTexts.set("options 410", for: .gone)
        var texts = ErrorTexts.client
        texts.set("options 410", for: .gone)
        #expect(bench.api.options.errorTexts == texts)
    }

    @Test("The localized description of an error that a plugin throws is the message")
    func pluginMessage() async throws {
        struct LoggedOut: LocalizedError { var errorDescription: String? { "Please log in" } }
        let bench = APIBench(ScriptedTransport(always: .ok), plugins: [.prepare { _, _ in throw LoggedOut() }])
        let request = APIRequest<IgnoredBody>("x")
        #expect(await pipelineError { _ = try await bench.api.send(request) }?.message == "Please log in")
        let own = request.addCustomError(.plugin, "own")
        #expect(await pipelineError { _ = try await bench.api.send(own) }?.message == "own")
        struct Blank: LocalizedError { var errorDescription: String? { " " } }
        let blank = APIBench(plugins: [.prepare { _, _ in throw Blank() }])
        let silent = request.addCustomError(.plugin, "")
        #expect(
            await pipelineError { _ = try await blank.api.send(silent) }?.message
                == "The request failed. Try again later."
        )
    }

    @Test(
        "serverMessage is only the server's text; localizedDescription is the custom text, else a general one"
    )
    func texts() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(404, body: #"{"message":"m"}"#)))
        let plain = await pipelineError { _ = try await bench.api.send(APIRequest<IgnoredBody>("x")) }
        #expect(plain?.serverMessage == "m" && plain?.localizedDescription == Self.missing)
        let request = APIRequest<IgnoredBody>("x").addCustomError(.notFound, "own")
        let own = await pipelineError { _ = try await bench.api.send(request) }
        #expect(own?.serverMessage == "m" && own?.message == "own" && own?.localizedDescription == "own")
        #expect(own?.description.contains("own") == false)
        let blank = await pipelineError { _ = try await bench.api.send(request.addCustomError(.notFound, " ")) }
        #expect(blank?.message == "m" && blank?.localizedDescription == Self.missing)
        #expect(PipelineError(.offline, "it failed").serverMessage == nil)
    }

    @Test(
        "C45 C76 Without a custom text, the message is the server's, else a general one",
        arguments: [
            (400, #"{"message":"m"}"#, "m"), (400, #"["only"]"#, "only"), (400, #"["a","b"]"#, refused),
            (400, #"{"message":"m"}"# + String(repeating: " ", count: 1 << 20), refused), (404, "", missing),
            (200, #"{"message":"m"}"#, "The server's response cannot be used. Try again later, or update the app."),
            (503, "<html>", "The service is temporarily unavailable. Try again later."),
            (404, #"{"message":""}"#, missing), (404, #"{"message":" \n"}"#, missing), (404, #"[""]"#, missing),
            (404, #"[" "]"#, missing),
        ]
    )
    func messages(status: Int, body: String, message: String) async throws {
        let bench = APIBench(.status(status, body: body))
        #expect(
            await pipelineError { _ = try await bench.api.send(APIRequest<APIRequestTests.User>("x")) }?.message
                == message
        )
    }

    @Test("C45 The message of a problem report is its detail, else its title")
    func problemMessage() async throws {
        let fields: HTTPFields = [.contentType: "application/problem+json"]
        let bench = APIBench(
            .status(400, headers: fields, body: #"{"title":"t","detail":"d"}"#),
            .status(400, headers: fields, body: #"{"title":"t"}"#),
            .status(400, headers: fields, body: #"{"title":"t","detail":" "}"#),
            .status(400, headers: fields, body: #"{"title":"","detail":"","message":"m"}"#)
        )
        for text in ["d", "t", "t", "m"] {
            #expect(await pipelineError { _ = try await bench.api.send(APIRequest<IgnoredBody>("x")) }?.message == text)
        }
    }

    @Test("C45 Without a response, the message is a general text about the failure")
    func generalMessages() {
        #expect(PipelineError(.timeout(.total), "").message == "The server took too long to respond. Try again later.")
    }
}
