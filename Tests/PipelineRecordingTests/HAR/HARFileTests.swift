import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("HAR files", .watched)
struct HARFileTests {
    static let small = #"{"request":{"method":"GET","url":"http://h/"},"response":{"status":200}}"#

    private func text(_ url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }

    private func location(_ error: PipelineError?) -> HARFailure? { error?.underlyingError as? HARFailure }

    @Test("F11 A new file is indented HAR 1.2 with mode 0600 and can be read back")
    func new() throws {
        let bench = try HARBench()
        var file = HARFile()
        #expect(file.count == 0 && file.url == nil)
        file.append(HAREntry(json: .object(["a": .integer(1)])))
        file.append(HAREntry(json: .object([])))
        try file.write(to: bench.url())
        #expect(
            try text(bench.url()) == """
                {
                  "log": {
                    "version": "1.2",
                    "creator": {
                      "name": "Pipeline",
                      "version": "1"
                    },
                    "entries": [
                      {
                        "a": 1
                      },
                      {}
                    ]
                  }
                }

                """
        )
        let mode = try FileManager.default.attributesOfItem(atPath: bench.url().path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(bench.names == ["test.har"])
        let again = try HARFile(contentsOf: bench.url())
        #expect(again.count == 2)
        #expect(try again.entry(at: 0).json["a"]?.int == 1)
        #expect(again.log["creator"]?["name"]?.string == "Pipeline")
    }

    @Test("A new file without entries can be read back and appended to")
    func empty() throws {
        let bench = try HARBench()
        try HARFile().write(to: bench.url())
        var file = try HARFile(contentsOf: bench.url())
        #expect(file.count == 0)
        file.append(HAREntry(json: .object([])))
        try file.write(to: bench.url())
        #expect(try text(bench.url()).contains("\"entries\": [\n      {}\n    ]\n  }\n}\n"))
    }

    @Test("Unchanged entries are copied byte for byte; the rest of a changed file is indented by 2 spaces")
    func edits() throws {
        let bench = try HARBench()
        let url = try bench.write(
            #"{"x":[1],"log":{"_own":{"entries":[9]},"entries": [ {"n" : 0} ,{"n":1.50}, 2 , "3"],"z":null}}"#
        )
        var file = try HARFile(contentsOf: url)
        #expect(file.count == 4)
        #expect(try file.entry(at: 1).json == .object(["n": .number("1.50")]))
        #expect(try file.entry(at: 3).json == .string("3"))
        file.replace(at: 1, with: HAREntry(json: .object(["a": .integer(1)])))
        try file.write(to: url)
        func text(entries: String) -> String {
            """
            {
              "x": [
                1
              ],
              "log": {
                "_own": {
                  "entries": [
                    9
                  ]
                },
                "entries": [\(entries)],
                "z": null
              }
            }

            """
        }
        let replaced = "{\n        \"a\": 1\n      }"
        #expect(
            try self.text(url)
                == text(entries: #"\#n      {"n" : 0},\#n      \#(replaced),\#n      2,\#n      "3"\#n    "#)
        )
        file.remove(at: 0)
        file.remove(at: 0)
        // The file on disk has been replaced by now, but its original can still be read.
        #expect(try file.entry(at: 0).json == .integer(2))
        try file.write(to: url)
        #expect(try self.text(url) == text(entries: #"\#n      2,\#n      "3"\#n    "#))
        file.remove(at: 0)
        file.remove(at: 0)
        try file.write(to: url)
        #expect(try self.text(url) == text(entries: ""))
        #expect(try HARFile(contentsOf: url).count == 0)
    }

    @Test("A file with a byte order mark, in one line or indented by tabs is read, kept if unchanged, and added to")
    func layouts() throws {
        let bench = try HARBench()
        for before in [
            #"{"log":{"entries":[ ],"x":1}} "#, #"{"log": {"entries": [1, 2]}}"#, "\u{feff}{\"log\":{\"entries\":[1]}}",
            "{\r\n\t\"log\": {\r\n\t\t\"entries\": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}",
        ] {
            var file = try HARFile(contentsOf: bench.write(before))
            try file.write(to: bench.url("same.har"))
            #expect(try text(bench.url("same.har")) == before)
            let added = HAREntry(json: .object(["a": .array([.integer(1)])]))
            let entries = try (0..<file.count).map { try file.entry(at: $0) } + [added]
            file.append(added)
            try file.write(to: bench.url("new.har"))
            let again = try HARFile(contentsOf: bench.url("new.har"))
            #expect(try (0..<again.count).map { try again.entry(at: $0) } == entries)
            #expect(again.log == file.log)
        }
    }

    @Test("Adding an entry to a sample keeps every byte of the others", arguments: HARBench.sampleNames)
    func sample(name: String) throws {
        let bench = try HARBench()
        var file = try HARFile(contentsOf: HARBench.samples.appending(path: name))
        // The samples are indented by 4 spaces.
        let sample = String(decoding: try Data(contentsOf: HARBench.samples.appending(path: name)), as: UTF8.self)
        let old = sample.components(separatedBy: ",\n            {\n").dropFirst().dropLast()
        file.append(try HAREntry(Self.small))
        try file.write(to: bench.url())
        let written = try text(bench.url())
        #expect(!old.isEmpty)
        for entry in old { #expect(written.contains("{\n" + entry)) }
        let again = try HARFile(contentsOf: bench.url())
        #expect(
            try (0..<file.count).map { try file.entry(at: $0) } == (0..<again.count).map { try again.entry(at: $0) }
        )
    }

    @Test("Member names written with escapes are recognized")
    func escapedNames() throws {
        let bench = try HARBench()
        let file = try HARFile(contentsOf: bench.write(#"{"\u006cog":{"e\u006etries":[1,2]}}"#))
        #expect(file.count == 2)
    }

    // MARK: Errors

    @Test("A missing file and an unreadable one are different errors that name only the file")
    func missing() throws {
        let bench = try HARBench()
        let missing = failure { _ = try HARFile(contentsOf: bench.url("secret/a.har")) }
        #expect(missing?.code == .recording(.missingFile))
        #expect(missing?.reason == #"the file "a.har" does not exist"#)
        #expect(failure { _ = try HARFile(contentsOf: bench.folder) }?.code == .recording(.corrupt))
    }

    @Test(
        "F04 A file that is not HAR is corrupt, and the error gives the byte and the entry",
        arguments: [
            ("", 0, nil), ("{", 1, nil), ("[]", 2, nil), ("7", 1, nil), ("{}", 2, nil), (#"{"log":{}}"#, 10, nil),
            (#"{"log":[]}"#, 10, nil), (#"{"log":{"entries":{}}}"#, 22, nil), (#"{"log":{"entries":null}}"#, 24, nil),
            (#"{"a":{"entries":[]}}"#, 20, nil), (#"{"log":{"entries":[}}"#, 19, 0),
            (#"{"log":{"entries":[1,]}}"#, 21, 1),
            (#"{"log":{"entries":[,1]}}"#, 19, 0), (#"{"log":{"entries":[1,,2]}}"#, 21, 1),
            (#"{"log":{"entries":[{}],"entries":[]}}"#, 33, nil), (#"{"log":{"entries":[[}]]}}"#, 24, nil),
            (#"["log",{"entries":[1]}]"#, 23, nil), (#"{"log":["entries",[1]]}"#, 23, nil),
            (#"{"log":{"entries":[]},"log":{"entries":[]}}"#, 39, nil), (#"{"log":{"entries":[]}}x"#, 22, nil),
            (#"{"log":{"entries":[{"a":"#, 24, 0), (#"{"log":{"x":nul,"entries":[]}}"#, 15, nil),
            (#"{"log":{"entries":[1,2,3],"x":"\q"}}"#, 32, nil), (#"{"log":{"entries":[],"version":"2.0"}}"#, 0, nil),
            ("\u{feff}{\"log\":{\"entries\":[1],\"x\":tru}}", 32, nil),
            ("\"log", 4, nil), ("{,}", 1, nil), ("{:}", 1, nil), ("}", 0, nil), ("{\"log\"]", 6, nil),
        ] as [(String, Int, Int?)]
    )
    func corrupt(text: String, offset: Int, index: Int?) throws {
        let bench = try HARBench()
        let url = try bench.write(text)
        let error = failure { _ = try HARFile(contentsOf: url) }
        #expect(error?.code == .recording(.corrupt))
        #expect(location(error)?.offset == offset, "\(error?.reason ?? "")")
        #expect(location(error)?.index == index)
        #expect(error?.reason.contains(#""test.har" is wrong at byte \#(offset)"#) == true)
    }

    @Test(
        "F04 An entry that is not JSON is corrupt when it is read, and the error gives the byte and the entry",
        arguments: [
            (#"{"log":{"entries":[1 2]}}"#, 21, 0), (#"{"log":{"entries":[{"a":1,}]}}"#, 26, 0),
            (#"{"log":{"entries":[{}, {"a" 1}]}}"#, 28, 1), ("{\"log\":{\"entries\":[\u{1}]}}", 19, 0),
            (#"{"log":{"entries":[{},[}]}}"#, 23, 1),
        ]
    )
    func corruptEntry(text: String, offset: Int, index: Int) throws {
        let bench = try HARBench()
        let file = try HARFile(contentsOf: bench.write(text))
        let error = failure { _ = try file.entry(at: index) }
        #expect(error?.code == .recording(.corrupt))
        #expect(location(error)?.offset == offset, "\(error?.reason ?? "")")
        #expect(location(error)?.index == index)
    }

    @Test(
        "Files of version 1.1, version 1.3 or no version are read",
        arguments: [#""version":"1.1","#, #""version":"1.3","#, #""version":null,"#, ""]
    )
    func versions(member: String) throws {
        let bench = try HARBench()
        #expect(try HARFile(contentsOf: bench.write(#"{"log":{\#(member)"entries":[]}}"#)).count == 0)
    }

    @Test("An unreadable entry is an error with its index and byte offset; the other entries can be read")
    func badEntry() throws {
        let bench = try HARBench()
        let bad =
            #"{"request":{"method":"GET","url":"http://h/"},"response":{"status":200,"content":{"encoding":"base64","text":"*"}}}"#
        let file = try HARFile(contentsOf: bench.write(entries: [Self.small, #"{"a":tru}"#, bad, "[]", Self.small]))
        #expect(file.count == 5)
        #expect(try file.exchange(at: 0).response?.status == 200)
        #expect(try file.exchange(at: 4).response?.status == 200)
        let start = 35 + Self.small.utf8.count + 1
        let syntax = failure { _ = try file.entry(at: 1) }
        #expect(syntax?.code == .recording(.corrupt))
        #expect(location(syntax)?.index == 1)
        #expect(location(syntax)?.offset == start + 8)
        #expect(syntax?.reason.contains("entry 1") == true)
        let meaning = failure { _ = try file.exchange(at: 2) }
        #expect(meaning?.code == .recording(.corrupt))
        #expect(location(meaning)?.index == 2)
        #expect(location(meaning)?.offset == start + 10)
        #expect(location(meaning)?.reason == "response.content.text is not base64")
        #expect(location(failure { _ = try file.exchange(at: 3) })?.index == 3)
    }

    @Test("Writing through a symbolic link keeps the link and replaces its target")
    func link() throws {
        let bench = try HARBench()
        let url = try bench.write(entries: [])
        try FileManager.default.createSymbolicLink(at: bench.url("link.har"), withDestinationURL: url)
        var file = try HARFile(contentsOf: bench.url("link.har"))
        file.append(try HAREntry(Self.small))
        try file.write(to: bench.url("link.har"))
        #expect(try HARFile(contentsOf: url).count == 1)
        let journal = try HARJournal(for: bench.url("link.har"))
        #expect(failure { _ = try HARJournal(for: url) }?.code == .recording(.busy))
        #expect(journal.url.lastPathComponent == "test.har.journal")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: bench.url("link.har").path) == url.path)
    }
}
