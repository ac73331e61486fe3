import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// A unique canary in each place that can hold a secret; none may appear in any output.
@Suite("LoggingPlugin, secrets", .watched)
struct LoggingSecretsTests {
    private struct Leak: Error {
        let text: String
    }

    private let lines = LogLines()

    private let target = Ask(
        url: "https://a.test?token=canary-1&api_key=canary-2&canary-3",
        method: .post,
        task: .requestData(Data(#"{"password":"canary-4","nested":[{"access_token":"canary-5"}]}"#.utf8)),
        headers: [
            "Authorization": "Bearer canary-6", "Cookie": "session=canary-7", "Proxy-Authorization": "Basic canary-8",
            "X-Api-Key": "canary-9", "Referer": "https://bob:canary-10@a.test/?token=canary-11#canary-12",
            "Content-Type": "application/json", "X-Request-Id": "canary-13",
        ],
        validationType: .successCodes
    )

    private var formTarget: Ask {
        var target = target
        target.task = .requestData(Data("user=bob&password=canary-14&client%5Fsecret=canary-15".utf8))
        target.headers?["Content-Type"] = "application/x-www-form-urlencoded"
        return target
    }

    private var multipartTarget: Ask {
        var target = target
        target.headers?["Content-Type"] = nil
        target.task = .uploadMultipartFormData([
            MultipartFormBodyPart(.bytes(Data("canary-16".utf8)), name: "password"),
            MultipartFormBodyPart(
                .bytes(Data("canary-17".utf8)),
                name: "file",
                fileName: "a.txt",
                mimeType: "text/plain"
            ),
        ])
        return target
    }

    /// All parts of an event.
    private let everything: @Sendable (LoggingPlugin.Event) -> String? = { event in
        var text =
            "\(event) \(String(reflecting: event)) \(event.fields) \(event.body ?? "") \(event.curlCommand ?? "")"
        text += "\(event.method) \(event.url) \(event.reason ?? "") \(event.plugin ?? "") \(event.kind) \(event.level)"
        dump(event, to: &text)
        return text
    }

    private func steps(_ status: Int) -> [ScriptedTransport.Step] {
        let fields: HTTPFields = [
            .setCookie: "session=canary-20", .location: "https://a.test/?code=canary-21#canary-22",
            .contentLocation: "/?token=canary-23", .wwwAuthenticate: "Digest nonce=canary-24",
        ]
        func step(_ type: String, _ body: String) -> ScriptedTransport.Step {
            var fields = fields
            fields[.contentType] = type
            return .status(status, headers: fields, body: body)
        }
        return [
            step("application/json", #"{"access_token":"canary-25","refreshToken":{"value":"canary-26"}}"#),
            step("application/json", #"{"access_token":"canary-27"#),
            step("application/x-www-form-urlencoded", "oauth_token=canary-28&a=1"),
            step("text/plain", "access_token=canary-29"),
            step("application/octet-stream", "canary-30"),
            .failure(Leak(text: "canary-31")),
            .failure(PipelineError(.connectionLost, "reset", underlyingError: Leak(text: "canary-32"))),
        ]
    }

    /// The output of the calls, in lines and as errors.
    private func output(of target: Ask, status: Int, _ logging: LoggingPlugin) async -> String {
        let mark = PluginStack.prepare { request, _ in
            if let name = HTTPField.Name("X-Request-Id") { request.secretFields.insert(name) }
        }
        let steps = steps(status)
        let provider = Provider<Ask>(
            transport: ScriptedTransport(steps),
            plugins: [logging, mark],
            configuration: .init(clock: ManualClock())
        )
        var text = ""
        for _ in steps {
            do {
                _ = try await provider.request(target)
            } catch {
                text += "\(error)|\(String(reflecting: error))|\(error.localizedDescription)\n"
                dump(error, to: &text)
            }
        }
        return text + lines.text
    }

    private static func body(_ place: String, _ name: String) -> (type: String, text: String) {
        switch place {
        case "form": ("application/x-www-form-urlencoded", "a=1&\(name)=canary&token_type=Bearer")
        case "json": ("application/json", #"{"\#(name)":"canary","token_type":"Bearer"}"#)
        case "xml": ("application/xml", "<a><n:password>canary</n:password></a>")
        default: ("text/plain", "password: canary")
        }
    }

    @Test(
        "F14 No value of a well-known name is in a trace, a cURL command or an error; token_type is shown",
        arguments: [
            "subscription-key", "device_code", "user_code", "hmac", "SAMLResponse", "PHPSESSID", "verification_code",
            "mnemonic", "psw", "connection_string", "oauth_verifier", "sig", "ticket", "access", "refresh", "seed",
        ],
        ["form", "json", "xml", "text"]
    )
    func wellKnownNames(name: String, place: String) async {
        let body = Self.body(place, name)
        let target = Ask(
            url: "https://a.test?\(name)=canary",
            method: .post,
            task: .requestData(Data(body.text.utf8)),
            headers: [name: "canary", "Cookie": "\(name)=canary", "Content-Type": body.type],
            validationType: .successCodes
        )
        let steps: [ScriptedTransport.Step] = [200, 400].map {
            .status($0, headers: [.contentType: body.type, .setCookie: "\(name)=canary"], body: body.text)
        }
        for form in [LoggingPlugin.Form.lines, .curl, .summary] {
            let lines = LogLines()
            let logging = LoggingPlugin(level: .trace, form: form, handler: lines.handler)
            let provider = Provider<Ask>(
                transport: ScriptedTransport(steps),
                plugins: [logging],
                configuration: .init(clock: ManualClock())
            )
            var text = ""
            for _ in steps {
                do { _ = try await provider.request(target) } catch {
                    text += "\(error)|\(String(reflecting: error))|\(error.localizedDescription)"
                    // It takes most of the time, and the error is that of the other forms.
                    if form == .lines { dump(error, to: &text) }
                }
            }
            text += lines.text
            #expect(!text.contains("canary"), "\(text)")
            if form == .lines, ["form", "json"].contains(place) { #expect(text.contains("Bearer")) }
        }
    }

    @Test(
        "F06 No secret is in a line of any level and form, a cURL command, an event or an error",
        arguments: [LoggingPlugin.Level.off, .error, .info, .debug, .trace],
        [LoggingPlugin.Form.lines, .curl, .summary]
    )
    func noSecret(level: LoggingPlugin.Level, form: LoggingPlugin.Form) async {
        for target in [target, formTarget, multipartTarget] {
            for status in [200, 302, 401] {
                for formatter in [nil, everything] {
                    let logging = LoggingPlugin(
                        level: level,
                        form: form,
                        handler: lines.handler,
                        formatter: formatter
                    )
                    let text = await output(of: target, status: status, logging)
                    #expect(!text.contains("canary"))
                    var dumped = ""
                    dump(logging, to: &dumped)
                    #expect(!dumped.contains("canary"))
                }
            }
        }
        #expect(lines.all.isEmpty == (level == .off))
    }

    @Test("F06 A gzip body is logged as its size and type")
    func gzip() async {
        let gzip = Data([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3]) + Data("canary-1".utf8)
        let compress = PluginStack.prepare { request, _ in
            request.body = .bytes(gzip)
            request.headers[.contentEncoding] = "gzip"
        }
        let fields: HTTPFields = [.contentType: "text/plain", .contentEncoding: "gzip"]
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .status(200, headers: fields, body: .bytes(gzip))),
            plugins: [LoggingPlugin(level: .trace, handler: lines.handler), compress]
        )
        var target = target
        target.headers?["X-Request-Id"] = nil
        _ = try? await provider.request(target)
        #expect(!lines.text.contains("canary"))
        #expect(lines.all.contains("trace #1 → body: <18 bytes of application/json>"))
        #expect(lines.all.contains("trace #1 ← body: <18 bytes of text/plain>"))
    }

    // MARK: Values

    @Test(
        "F06 Values of a call's secret fields that a server echoes are hidden, in each form and place",
        arguments: [LoggingPlugin.Form.lines, .curl, .summary]
    )
    func echo(form: LoggingPlugin.Form) async {
        let token = "canary-/tok+en-123"
        let echoes = [
            token, "canary-%2ftok%2Ben-123", #"canary-\/tok+en-123"#, Data("user:\(token)".utf8).base64EncodedString(),
        ]
        let authenticate = PluginStack.prepare { request, context in
            try request.setHeader("Bearer " + token, for: .authorization, isSecret: true)
            guard let name = HTTPField.Name("X-Api-Key"), let mark = HTTPField.Name("X-Request-Id") else { return }
            try request.setHeader("canary-key", for: name, isSecret: true)
            try request.setHeader("canary-mark", for: mark, isSecret: true)
        }
        let steps = echoes.flatMap { echo -> [ScriptedTransport.Step] in
            let location = echo.replacingOccurrences(of: "\\", with: "")
            return [
                .status(
                    302,
                    headers: [.location: "/to/\(location)/canary-mark", .server: echo, .setCookie: "a=canary-cookie"]
                ),
                .status(
                    400,
                    headers: [.contentType: "application/json", .setCookie: "a=canary-cookie", .eTag: "canary-cookie"],
                    body: #"{"sent":"\#(echo)","key":"canary-key","got":["canary-mark","canary-cookie"]}"#
                ),
                .failure(PipelineError(.connectionLost, "after \(echo) and canary-key")),
            ]
        }
        let provider = Provider<Ask>(
            transport: ScriptedTransport(steps),
            plugins: [LoggingPlugin(level: .trace, form: form, handler: lines.handler), authenticate]
        )
        for _ in echoes.indices {
            for _ in 0..<2 { _ = try? await provider.request(Ask()) }
        }
        #expect(lines.all.count > 30)
        #expect(!lines.text.contains("canary"))
        #expect(!lines.text.contains("tok"))
        #expect(!lines.text.contains("Y2FuYXJ5"))
        #expect(lines.text.contains("after … and …"))
        #expect(lines.text.contains(#""got":["…","…"]"#))
    }

    @Test("F06 Secrets that an earlier exchange of the call sent are hidden if a later one echoes them")
    func earlierExchange() async {
        let authenticate = PluginStack.prepare { request, _ in
            try request.setHeader("Bearer canary-123", for: .authorization, isSecret: true)
        }
        let steps: [ScriptedTransport.Step] = [
            .status(302, headers: [.location: "https://b.test/"]), .status(200, body: "canary-123"),
        ]
        let provider = Provider<Ask>(
            transport: ScriptedTransport(steps),
            plugins: [LoggingPlugin(level: .trace, handler: lines.handler), authenticate]
        )
        _ = try? await provider.request(Ask())
        #expect(lines.all.last == "trace #1 ← body: …")
    }

    @Test(
        "F06 A declared value is in no line: not in a reason, plugin name, path, method or formatter's text"
    )
    func declaredValues() async {
        let redactor = Redactor(secretValues: ["canary", "line\nbreak"])
        let plugin = LoggingPlugin(
            level: .trace,
            redactor: redactor,
            handler: lines.handler,
            formatter: { "\($0)|canary|\($0.reason ?? "")|\($0.plugin ?? "")|\($0.method)|\($0.url)" }
        )
        let failing = PluginStack.prepare(name: "canary") { request, _ in
            throw PipelineError(.offline, "no line\nbreak Y2FuYXJ5 canary")
        }
        let target = Ask(path: "/canary", method: .init("X-canary") ?? .get)
        for plugins: [any PluginType] in [[plugin], [plugin, failing]] {
            let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: plugins)
            _ = try? await provider.request(target)
        }
        #expect(lines.all.count == 6)
        #expect(lines.all.first == "info #1 → X-… https://a.test/…|…|||X-…|https://a.test/…")
        #expect(lines.all.last?.contains("✗ offline: no … … … (…, prepare)") == true)
        #expect(!lines.text.contains("canary") && !lines.text.contains("break"))
    }

    @Test("A redactor that reveals secrets also reveals those of a call")
    func revealing() async {
        let plugin = LoggingPlugin(level: .trace, redactor: .revealingSecrets, handler: lines.handler)
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .status(200, body: "canary-123")),
            plugins: [plugin]
        )
        _ = try? await provider.request(Ask(headers: ["Authorization": "Bearer canary-123"]))
        #expect(lines.all.last == "trace #1 ← body: canary-123")
    }

    @Test("F06 Every one of these canaries appears if nothing is redacted")
    func everyCanary() async {
        var text = ""
        for target in [target, formTarget] {
            let logging = LoggingPlugin(level: .trace, redactor: .revealingSecrets, handler: lines.handler)
            text += await output(of: target, status: 200, logging)
        }
        // The user name and password of a URL, binary bodies and underlying errors are never shown.
        let never = [10, 30, 31, 32]
        for number in Array(1...15) + Array(20...32) {
            #expect(text.contains("canary-\(number)") == !never.contains(number), "canary-\(number)")
        }
    }
}
