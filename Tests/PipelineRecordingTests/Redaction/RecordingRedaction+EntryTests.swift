import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Redaction of recorded entries", .watched)
struct RecordingRedactionEntryTests {
    private let redaction = RecordingRedaction(Redactor(secretValues: ["declared-value", "12345678"]))

    @Test("an entry of another writer is redacted in every member and keeps everything else")
    func foreignEntry() throws {
        let text = """
            {"_initiator": {"url": "https://h/?token=canary"}, "_resourceType": "xhr", "connection": "443", "_sessionId": "canary",
             "request": {"method": "POST", "url": "https://u:canary@h/a?token=canary", "httpVersion": "h2",
              "headers": [{"name": ":authority", "value": "h"}, {"name": "Authorization", "value": "Bearer canary"},
               ["Cookie", "a=canary"], {"name": "X-Api-Key", "value": ["canary", "canary"]}],
              "cookies": [{"name": "a", "value": "canary", "path": "/"}],
              "queryString": [{"name": "token", "value": "canary"}, {"name": "x", "value": "1"}],
              "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "password=canary&x=1",
               "params": [{"name": "password", "value": "canary"}, {"name": "x", "value": "1"}]}},
             "response": {"status": 200, "headers": [{"name": "Set-Cookie", "value": "a=canary; Path=/\\nb=canary"}],
              "cookies": [{"name": "a", "value": "canary"}], "redirectURL": "/b?sid=canary", "_error": "at https://h/?token=canary",
              "content": {"size": 99, "mimeType": "application/json", "encoding": "base64",
               "text": "\(Data("{\"token\":\"canary\",\"x\":1}".utf8).base64EncodedString())", "_own": 1}},
             "_webSocketMessages": [{"type": "send", "time": 1.5, "data": "{\\"pin\\":\\"canary\\"}"}]}
            """
        let entry = redaction.entry(HAREntry(json: try JSONParser.parse(text.utf8)))
        let shown = String(decoding: entry.json.data(), as: UTF8.self)
        #expect(!shown.contains("canary"))
        let exchange = try entry.exchange(sideFiles: nil)
        #expect(exchange.request.url == "https://REDACTED@h/a?token=REDACTED")
        #expect(exchange.request.body == Data("password=REDACTED&x=1".utf8))
        #expect(exchange.response?.body == Data("{\"token\":\"REDACTED\",\"x\":1}".utf8))
        #expect(exchange.response?.headers[values: .setCookie] == ["a=REDACTED; Path=/", "b=REDACTED"])
        for kept in [
            "\"_resourceType\":\"xhr\"", "\"connection\":\"443\"", "{\"name\":\"x\",\"value\":\"1\"}", "\"_own\":1",
            "\"path\":\"/\"",
            "\"time\":1.5", "\":authority\"",
        ] {
            #expect(shown.contains(kept), "\(kept) is gone")
        }
        #expect(redaction.entry(entry) == entry)
    }

    @Test("texts are redacted whatever their charset", arguments: ["iso-8859-1", "utf-16", "utf-16le", "utf-8"])
    func charsets(charset: String) throws {
        let body = #"{\"password\":\"canary\",\"n\":\"José\"}"#
        let text = """
            {"request": {"method": "POST", "url": "https://h/a",
              "postData": {"mimeType": "application/json; charset=\(charset)", "text": "\(body)"}},
             "response": {"status": 200, "content": {"mimeType": "application/json; charset=\(charset)", "text": "\(body)"}}}
            """
        let entry = redaction.entry(HAREntry(json: try JSONParser.parse(text.utf8)))
        let shown = #"{"password":"REDACTED","n":"José"}"#
        #expect(entry.json["request"]?["postData"]?["text"]?.string == shown)
        #expect(entry.json["response"]?["content"]?["text"]?.string == shown)
    }

    @Test("an entry without secrets is unchanged")
    func plainEntry() throws {
        let text = """
            {"request": {"method": "GET", "url": "https://h/a?b=%41", "headers": null, "cookies": []}, "comment": 1.0,
             "response": {"status": 200, "content": {"text": "[\\"eA==\\"]", "encoding": "base64", "size": 3, "compression": -1}}}
            """
        let entry = HAREntry(json: try JSONParser.parse(text.utf8))
        #expect(redaction.entry(entry) == entry)
    }
}
