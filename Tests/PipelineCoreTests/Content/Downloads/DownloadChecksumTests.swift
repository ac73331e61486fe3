import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Downloads with a checksum", .watched)
struct DownloadChecksumTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The SHA-256 of `abc`.
    private static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private func target(_ checksum: String, isResumable: Bool = false) -> TestTarget {
        var destination = DownloadDestination.file(folder.file("a.txt"), options: .removePreviousFile)
        if isResumable { destination = destination.resumable(at: folder.file("part")) }
        return TestTarget(task: .downloadDestination(destination.verifying(.sha256(checksum))))
    }

    @Test("A file with the expected SHA-256 appears, whatever the case of its digits")
    func matching() async throws {
        let provider = DownloadTests.provider(ScriptedTransport(always: .status(200, body: "abc")))
        for checksum in [Self.abc, Self.abc.uppercased()] {
            _ = try await provider.request(target(checksum))
            #expect(folder.text(of: "a.txt") == "abc")
        }
        #expect(folder.names == ["a.txt"])
    }

    @Test(
        "A file with another one fails and leaves nothing, not even in place of an old file",
        arguments: [false, true]
    )
    func differing(isResumable: Bool) async throws {
        try folder.write("old", to: "a.txt")
        let headers: HTTPFields = [.eTag: "\"v1\""]
        let provider = DownloadTests.provider(
            ScriptedTransport(always: .status(200, headers: headers, body: "abd"))
        )
        let error = await pipelineError { _ = try await provider.request(target(Self.abc, isResumable: isResumable)) }
        #expect(error?.code == .file(.checksum))
        #expect(error?.response?.statusCode == 200)
        #expect(folder.text(of: "a.txt") == "old")
        #expect(folder.names == ["a.txt"])
    }

    @Test("The checksum of a resumed download is that of the whole file")
    func resumed() async throws {
        let headers: HTTPFields = [.eTag: "\"v1\"", .contentRange: "bytes 2-2/3"]
        let transport = ScriptedTransport([
            .status(200, headers: [.eTag: "\"v1\""], body: .stream(BrokenFeed(), byteCount: 3)),
            .status(206, headers: headers, body: "c"),
        ])
        let provider = DownloadTests.provider(transport)
        let error = await pipelineError { _ = try await provider.request(target(Self.abc, isResumable: true)) }
        #expect(error?.code == .connectionLost)
        _ = try await provider.request(target(Self.abc, isResumable: true))
        #expect(folder.text(of: "a.txt") == "abc")
        #expect(transport.sent.last?.headers[.range] == "bytes=2-")
    }

    @Test(
        "A text that is not a SHA-256 fails before anything is sent, and is not quoted",
        arguments: ["", "abc", "z" + String(abc.dropFirst()), abc + "0"]
    )
    func invalid(checksum: String) async {
        let transport = ScriptedTransport(always: .status(200, body: "abc"))
        let error = await pipelineError {
            _ = try await DownloadTests.provider(transport).request(target(checksum))
        }
        #expect(error?.code == .file(.checksum))
        #expect(checksum.isEmpty || error?.reason.contains(checksum) == false)
        #expect(transport.sent.isEmpty)
        #expect(folder.names == [])
    }
}

/// Two bytes, and then a lost connection.
private struct BrokenFeed: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        var isBroken = false

        mutating func next() async throws -> Data? {
            if isBroken { throw PipelineError(.connectionLost, "by script") }
            isBroken = true
            return Data("ab".utf8)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
}
