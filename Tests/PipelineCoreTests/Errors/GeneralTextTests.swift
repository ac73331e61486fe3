import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The general texts of errors", .watched)
struct GeneralTextTests {
    @Test(
        "The text about a code says what happened and what people can do",
        arguments: [
            (.offline, "You're not connected to the internet. Check your connection and try again."),
            (.timeout(.idle), "The server took too long to respond. Try again later."),
            (.dns, "The server cannot be reached. Check your connection, or try again later."),
            (.connect(.refused), "The server cannot be reached. Check your connection, or try again later."),
            (.proxy(.authentication), "The proxy cannot be used. Check the proxy settings of your network."),
            (
                .tls(.handshake),
                "A secure connection to the server cannot be made. Check this device's date, or use another network."
            ),
            (.truncated, "The connection to the server was lost. Try again."),
            (.connectionLost, "The connection to the server was lost. Try again."),
            (.limit(.bodyBytes), "The server's response is too large. Load less, or update the app."),
            (.limit(.headerCount), "The server's response cannot be used. Try again later, or update the app."),
            (.mapping(.object), "The server's response cannot be used. Try again later, or update the app."),
            (.pagination(.loop), "The server's response cannot be used. Try again later, or update the app."),
            (.invalidRequest(.url), "The request cannot be sent. Check what you entered, or update the app."),
            (.bodyChanged, "What you are sending has changed meanwhile. Send it again."),
            (.file(.noSpace), "There is not enough storage space. Free some and try again."),
            (.file(.exists), "A file with this name exists. Choose another name."),
            (.file(.busy), "The file is in use. Try again later."),
            (.file(.checksum), "The downloaded file is damaged. Download it again."),
            (.file(.unreadable), "The file cannot be read. Choose another file."),
            (.file(.notWritable), "The file cannot be saved. Choose another place."),
            (.sessionEnded, "Please sign in again."),
            (.cancelled, "The request was cancelled."),
            (.clientClosed, "The request failed. Restart the app, or update it."),
            (.unsupported(.pinning), "The request failed. Restart the app, or update it."),
            (.init(rawValue: "own.code"), "The request failed. Try again later."),
        ] as [(PipelineError.Code, String)]
    )
    func codes(code: PipelineError.Code, text: String) {
        #expect(PipelineError(code, "CANARY").localizedDescription == text)
    }

    @Test(
        "The text about a status says what happened and what people can do",
        arguments: [
            (200...399, "The server's response cannot be used. Try again later, or update the app."),
            (400...400, "The server did not accept the request. Check what you entered, or update the app."),
            (401...401, "You're not signed in. Please sign in again."),
            (402...402, "The server did not accept the request. Check what you entered, or update the app."),
            (403...403, "You're not allowed to do this. Sign in with another account, or ask for access."),
            (404...404, "This item does not exist. Check its name or address."),
            (405...407, "The server did not accept the request. Check what you entered, or update the app."),
            (408...408, "The server did not accept the request. Try again later."),
            (409...409, "This conflicts with what the server has. Load it again, check it, and repeat your change."),
            (410...410, "This item no longer exists."),
            (412...412, "This item was changed meanwhile. Load it again and repeat your change."),
            (413...413, "What you tried to send is too large. Send something smaller."),
            (422...422, "The server did not accept what you entered. Check it and try again."),
            (423...423, "The server did not accept the request. Try again later."),
            (424...424, "The server did not accept the request. Check what you entered, or update the app."),
            (425...425, "The server did not accept the request. Try again later."),
            (429...429, "There were too many requests. Try again later."),
            (430...450, "The server did not accept the request. Check what you entered, or update the app."),
            (451...451, "This item is not available for legal reasons."),
            (452...499, "The server did not accept the request. Check what you entered, or update the app."),
            (500...502, "The service has a problem. Try again later."),
            (503...503, "The service is temporarily unavailable. Try again later."),
            (504...599, "The service has a problem. Try again later."),
        ]
    )
    func statuses(range: ClosedRange<Int>, text: String) throws {
        for status in range {
            let error = PipelineError(.unacceptableStatus, "CANARY", response: try makeResponse(status))
            #expect(error.localizedDescription == text, "\(status)")
        }
    }

    @Test(
        "The text about a request that the server may have carried out does not say to try again (RFC 9110 §9.2.2)",
        arguments: [
            (.post, .failure(PipelineError(.connectionLost, "")), true),
            (.post, .failure(PipelineError(.timeout(.attempt), "")), true),
            (.post, .failure(PipelineError(.malformedResponse, "")), true),
            (.post, .status(500), true), (.post, .status(502), true), (.post, .status(504), true),
            (.post, .status(201, body: "not JSON"), true), (.patch, .status(500), true),
            (.post, .status(503), false), (.post, .status(429), false), (.post, .status(409), false),
            (.post, .failure(PipelineError(.connect(.refused), "")), false),
            (.post, .failure(PipelineError(.timeout(.connect), "")), false),
            (.get, .failure(PipelineError(.connectionLost, "")), false), (.get, .status(500), false),
            (.put, .failure(PipelineError(.timeout(.attempt), "")), false), (.delete, .status(504), false),
        ] as [(HTTPRequest.Method, ScriptedTransport.Step, Bool)]
    )
    func repetition(method: HTTPRequest.Method, step: ScriptedTransport.Step, asksToCheck: Bool) async {
        let provider = Provider<TestTarget>(transport: ScriptedTransport([step]))
        let error = await pipelineError {
            _ = try await provider.request(TestTarget(method: method, validationType: .successCodes), as: Int.self)
        }
        let text = error?.localizedDescription ?? ""
        #expect(text.hasSuffix("Check whether your change was made before you repeat it.") == asksToCheck, "\(text)")
    }

    @Test("A call that ended before anything was sent may be repeated")
    func unsent() async {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([]),
            plugins: [.prepare { _, _ in throw PipelineError(.timeout(.total), "") }]
        )
        let error = await pipelineError { _ = try await provider.request(TestTarget(method: .post)) }
        #expect(error?.localizedDescription == "The server took too long to respond. Try again later.")
    }

    @Test("A call that was refused to protect the server may succeed later, whatever its code")
    func refusal() {
        for code in [PipelineError.Code(rawValue: "circuitOpen"), .limit(.bodyBytes), .timeout(.total)] {
            let error = PipelineError.refused(code, "CANARY")
            #expect(error.localizedDescription == "The service is busy. Try again later.")
        }
    }

    @Test("A failure of the network that caused another error explains it, whatever the status")
    func cause() throws {
        let offline = PipelineError(.offline, "")
        let response = try makeResponse(401)
        let error = PipelineError(.init(rawValue: "tokenRefresh"), "", response: response, underlyingError: offline)
        #expect(error.localizedDescription == offline.localizedDescription)
    }
}
