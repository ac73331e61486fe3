import Foundation
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Checking a recording", .watched)
struct RecordingCheckTests {
    /// A recording without a fault.
    static let good = #"""
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

    @Test("A recording that conforms to HAR 1.2 has no findings")
    func good() throws {
        #expect(try findings(Self.good) == [])
    }

    @Test("F13 A secret value of 8 to 15 bytes is reported outside its field, but not in it")
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
                #"secret: entry 1, response.statusText holds the value of the cookie "s", of 8 to 15 bytes; hide it with --secret or, if "#
                    + "it is not secret, list its name with --plain"
            ]
        )
    }

    @Test("A failed entry may have status 0", arguments: ["_error", "_failureText"])
    func failure(member: String) throws {
        #expect(try findings(Self.good.replacing(#""status":204"#, with: #""status":0,"\#(member)":"refused""#)) == [])
    }

    @Test("A side file counts as the body only if it is inside the folder")
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
        let missing = "contradiction: entry 1, response.content._file is not a file in the folder of the recording"
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
                "contradiction: entry 1, response.content.size is 3, and the body has 2 bytes"
            ]
        )
    }

    @Test(
        "JSON that is not a recording is one finding",
        arguments: [("[]", "log is missing"), (#"{"log":1}"#, "log is not an object")]
    )
    func none(text: String, finding: String) throws {
        #expect(try findings(text) == ["format: " + finding])
    }

    @Test("A file that is not JSON is one finding, with the byte offset")
    func files() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "check-\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(
            RecordingCheck.findings(of: file).map(\.description) == ["format: \(file.lastPathComponent) cannot be read"]
        )
        try Data("\u{feff}\(Self.good)".utf8).write(to: file)
        #expect(RecordingCheck.findings(of: file) == [])
        try Data(#"{"log": x}"#.utf8).write(to: file)
        #expect(RecordingCheck.findings(of: file).map(\.description) == ["format: byte 8 no value is written so"])
    }
}
