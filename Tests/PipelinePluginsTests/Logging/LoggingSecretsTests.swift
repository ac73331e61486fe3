import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Testing

/// A unique canary in each place where a secret can stand; none may come out anywhere.
@Suite("LoggingPlugin, secrets")
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

    /// What the calls print, in lines and as errors.
    private func output(of target: Ask, status: Int, _ logging: LoggingPlugin) async -> String {
        let mark = PreparePlugin.prepare { request, _ in
            if let name = HTTPField.Name("X-Request-Id") { request.secretFields.insert(name) }
        }
        let steps = steps(status)
        let provider = Provider<Ask>(
            transport: ScriptedTransport(steps),
            plugins: [logging, mark],
            clock: ManualClock()
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

    @Test(
        "No secret is in a line of any level, in a cURL command, or in an error",
        arguments: [LoggingPlugin.Level.off, .error, .info, .debug, .trace],
        [false, true]
    )
    func noSecret(level: LoggingPlugin.Level, asCURL: Bool) async {
        for target in [target, formTarget] {
            for status in [200, 302, 401] {
                let logging = LoggingPlugin(level: level, form: asCURL ? .curl : .lines, handler: lines.handler)
                let text = await output(of: target, status: status, logging)
                #expect(!text.contains("canary"))
            }
        }
        #expect(lines.all.isEmpty == (level == .off))
    }

    @Test("Every one of these canaries would come out if nothing were redacted")
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
