import Foundation
import PipelineRecording
import Testing

@Suite("The check of a recording")
struct RecordingCheckTests {
    /// A recording without a fault.
    private static let good = #"""
        {"log":{"version":"1.2","creator":{"name":"x","version":"1"},
        "pages":[{"startedDateTime":"2026-11-21T10:00:00Z","id":"p1","title":"","pageTimings":{}}],
        "entries":[
        {"startedDateTime":"2026-11-21T10:00:00.000Z","time":3,"request":{"method":"GET","url":"http://h.example/","httpVersion":"",
        "cookies":[],"headers":[],"queryString":[],"headersSize":-1,"bodySize":0},"response":{"status":204,"statusText":"",
        "httpVersion":"","cookies":[],"headers":[],"content":{"size":0,"mimeType":""},"redirectURL":"","headersSize":-1,
        "bodySize":0},"cache":{},"timings":{"send":0,"wait":1,"receive":2}},
        {"pageref":"p1","startedDateTime":"2026-11-21T10:00:00.500+01:00","time":12.5,
        "request":{"method":"POST","url":"http://h.example/a?q=a%20b&n","httpVersion":"HTTP/1.1","cookies":[],
        "headers":[{"name":"Accept","value":"*/*"}],"queryString":[{"name":"q","value":"a b"},{"name":"n","value":""}],
        "postData":{"mimeType":"text/plain","text":"grün"},"headersSize":-1,"bodySize":5},
        "response":{"status":302,"statusText":"Found","httpVersion":"HTTP/1.1","cookies":[{"name":"k","value":"v"}],
        "headers":[{"name":"Set-Cookie","value":"k=v"},{"name":"location","value":"/b"}],
        "content":{"size":3,"mimeType":"image/png","text":"AAEC","encoding":"base64","compression":-7},"redirectURL":"/b",
        "headersSize":-1,"bodySize":10},"cache":{},
        "timings":{"blocked":-1,"dns":-1,"connect":2.5,"ssl":2,"send":0,"wait":4,"receive":6}}]}}
        """#

    private func findings(_ text: String, folder: URL? = nil) throws -> [String] {
        RecordingCheck.findings(in: try JSONParser.parse(text.utf8), folder: folder).map(\.description)
    }

    @Test("What is as HAR 1.2 has it has no finding")
    func good() throws {
        #expect(try findings(Self.good) == [])
    }

    @Test(
        "A fault of shape is found, with the index of its entry",
        arguments: [
            (#""version":"1.2","#, "", "S log.version is missing"),
            (#"{"name":"x","version":"1"}"#, #"{"name":"x","version":1}"#, "S log.creator.version is not a string"),
            (
                #""id":"p1","#, #""id":"p1","onLoad":1,"#,
                "S log.pages[0].onLoad is no member of HAR 1.2 and does not begin with _"
            ),
            (#""time":12.5,"#, #""time":"12.5","#, "S entry 1, entry.time is not a number"),
            (#""time":12.5,"#, #""time":null,"#, "S entry 1, entry.time is not a number"),
            (#""method":"POST","#, "", "S entry 1, request.method is missing"),
            (#""bodySize":10}"#, #""bodySize":10.5}"#, "S entry 1, response.bodySize is not an integer"),
            (#""name":"Accept","value":"*/*""#, #""name":"Accept""#, "S entry 1, request.headers[0].value is missing"),
            (#"[{"name":"k","value":"v"}]"#, "[7]", "S entry 1, response.cookies[0] is not an object"),
            (
                #""cache":{},"timings":{"send":0,"wait":1,"receive":2}"#, #""cache":{}"#,
                "S entry 0, entry.timings is missing"
            ),
            (
                #""timings":{"send":0,"wait":1"#, #""timings":{"send":0,"wait":"1""#,
                "S entry 0, timings.wait is not a number"
            ),
        ]
    )
    func shape(part: String, fault: String, finding: String) throws {
        let text = Self.good.replacing("\n", with: "").replacing(part, with: fault, maxReplacements: 1)
        #expect(text != Self.good.replacing("\n", with: ""))
        #expect(try findings(text).contains(finding))
    }

    @Test(
        "What contradicts itself is found, with the index of its entry",
        arguments: [
            (#""pageref":"p1""#, #""pageref":"p2""#, "M entry 1, entry.pageref names no page"),
            (
                "2026-11-21T10:00:00.500+01:00", "2026-11-21T10:00:00.500",
                "M entry 1, entry.startedDateTime is no date of ISO 8601 with a zone"
            ),
            (#""time":12.5"#, #""time":14"#, "M entry 1, entry.time is 14.0, and the timings are 12.5 in all"),
            (#""receive":6"#, #""receive":-6"#, "M entry 1, timings.receive is negative"),
            ("http://h.example/a?", "/a?", "M entry 1, request.url is not absolute"),
            ("q=a%20b&n", "q=a%20b&n#top", "M entry 1, request.url has a fragment"),
            ("q=a%20b&n", "q=a%20c&n", "M entry 1, request.queryString is not the query of the URL"),
            (#""text":"grün""#, #""text":"grue""#, "M entry 1, request.bodySize is 5, and the body has 4 bytes"),
            (
                #""postData":{"mimeType":"text/plain","text":"grün"},"#, "",
                "M entry 1, request.postData is missing, and bodySize is 5"
            ),
            (#","text":"grün""#, "", "M entry 1, request.postData has neither text nor params"),
            (#""status":204"#, #""status":0"#, "M entry 0, response.status is 0, and nothing says why"),
            (
                #"{"name":"Set-Cookie","value":"k=v"},"#, "",
                "M entry 1, response.cookies are 1, and there are 0 Set-Cookie"
            ),
            (
                #""redirectURL":"/b""#, #""redirectURL":"""#,
                "M entry 1, response.redirectURL is not the value of Location"
            ),
            (#""size":3,"#, #""size":4,"#, "M entry 1, response.content.size is 4, and the body has 3 bytes"),
            ("-7", "7", "M entry 1, response.content.compression is 7, not size - bodySize"),
            ("AAEC", "A!EC", "M entry 1, response.content.text is not base64"),
            (
                #""encoding":"base64""#, #""encoding":"rot13""#,
                "M entry 1, response.content.encoding is rot13, which is unknown"
            ),
        ]
    )
    func meaning(part: String, fault: String, finding: String) throws {
        let text = Self.good.replacing("\n", with: "").replacing(part, with: fault, maxReplacements: 1)
        #expect(text != Self.good.replacing("\n", with: ""))
        #expect(try findings(text).contains(finding))
    }

    @Test(
        "Several cookies in one Set-Cookie field, or line by line, are no finding, and others are",
        arguments: [
            (#"k=v, l=w; Path=/"#, 2, true), (#"k=v; Expires=Wed, 21 Oct 2026 07:28:00 GMT,l=w"#, 2, true),
            (#"k=v\nl=w\nm=x"#, 3, true), (#"k=v, l=w"#, 1, true), (#"k=v, l=w"#, 3, false), (#"k=v"#, 2, false),
            (#"k=v; Expires=Wed, 21 Oct 2026 07:28:00 GMT"#, 2, false),
        ]
    )
    func joinedCookies(field: String, count: Int, isGood: Bool) throws {
        let cookies = Array(repeating: #"{"name":"k","value":"v"}"#, count: count).joined(separator: ",")
        let text = Self.good.replacing(#""value":"k=v""#, with: #""value":"\#(field)""#)
            .replacing(#""cookies":[{"name":"k","value":"v"}]"#, with: #""cookies":[\#(cookies)]"#)
        #expect(try findings(text).isEmpty == isGood)
    }

    @Test("An empty text beside parameters is no finding")
    func parameters() throws {
        let text = Self.good.replacing(#""text":"grün""#, with: #""text":"","params":[{"name":"a","value":"b"}]"#)
        #expect(try findings(text) == [])
    }

    @Test("A size that a text has in Latin-1 is no finding")
    func latin1() throws {
        #expect(try findings(Self.good.replacing(#""bodySize":5}"#, with: #""bodySize":4}"#)) == [])
    }

    @Test("F13 A secret value of 8 to 15 bytes outside of its field is found, and one in its field is not")
    func shortSecrets() throws {
        let field = #""headers":[{"name":"Cookie","value":"s=a1b2c3d4e5"}],"queryString":[{"name":"q""#
        let own = Self.good.replacing(
            #""headers":[{"name":"Accept","value":"*/*"}],"queryString":[{"name":"q""#,
            with: field
        )
        #expect(own != Self.good)
        #expect(try findings(own) == [])
        let elsewhere = own.replacing(#""statusText":"Found""#, with: #""statusText":"a1b2c3d4e5""#)
        #expect(
            try findings(elsewhere) == [
                "P entry 1, entry holds a secret value of 8 to 15 bytes outside of its field; hide it with har redact --secret"
            ]
        )
    }

    @Test("A failed entry may have status 0", arguments: ["_error", "_failureText"])
    func failure(member: String) throws {
        #expect(try findings(Self.good.replacing(#""status":204"#, with: #""status":0,"\#(member)":"refused""#)) == [])
    }

    @Test("A side file counts as the body, and one outside of the folder does not")
    func sideFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "check-\(UUID())")
        let inner = folder.appending(path: "inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data([0, 1, 2]).write(to: inner.appending(path: "body.bin"))
        try Data([0, 1, 2]).write(to: folder.appending(path: "outside.bin"))
        let text = { (name: String) in
            Self.good.replacing(#""text":"AAEC","encoding":"base64""#, with: #""_file":"\#(name)""#)
        }
        #expect(try findings(text("body.bin"), folder: inner) == [])
        let missing = "M entry 1, response.content._file is no file in the folder of the recording"
        for name in ["../outside.bin", "none.bin", ".", ""] {
            #expect(try findings(text(name), folder: inner) == [missing])
        }
        #expect(try findings(text("body.bin")) == [missing])
        try FileManager.default.createSymbolicLink(
            at: inner.appending(path: "link.bin"),
            withDestinationURL: folder.appending(path: "outside.bin")
        )
        #expect(try findings(text("link.bin"), folder: inner) == [missing])
        try Data([0, 1]).write(to: inner.appending(path: "short.bin"))
        #expect(
            try findings(text("short.bin"), folder: inner) == [
                "M entry 1, response.content.size is 3, and the body has 2 bytes"
            ]
        )
    }

    @Test(
        "What is no recording at all is one finding",
        arguments: [("[]", "log is missing"), (#"{"log":1}"#, "log is not an object")]
    )
    func none(text: String, finding: String) throws {
        #expect(try findings(text) == ["S " + finding])
    }

    @Test("A file that is no JSON is one finding, with the place")
    func files() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "check-\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(
            RecordingCheck.findings(of: file).map(\.description) == ["S \(file.lastPathComponent) cannot be read"]
        )
        try Data("\u{feff}\(Self.good)".utf8).write(to: file)
        #expect(RecordingCheck.findings(of: file) == [])
        try Data(#"{"log": x}"#.utf8).write(to: file)
        #expect(RecordingCheck.findings(of: file).map(\.description) == ["S byte 8 no value is written so"])
    }
}
