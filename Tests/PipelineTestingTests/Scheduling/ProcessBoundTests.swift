import Foundation
import TestSupport
import Testing

@Suite("Other processes of the tests", .realTime, .watched)
struct ProcessBoundTests {
    @Test("A process that does not end in time is killed, and one that ends is not")
    func bound() throws {
        for (script, hasEnded) in [("read line", false), ("exit 0", true)] {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", script]
            // A pipe to which nothing is written.
            process.standardInput = Pipe()
            try process.run(within: hasEnded ? 60 : 0)
            process.waitUntilExit()
            #expect((process.terminationReason == .exit) == hasEnded)
            #expect(process.terminationStatus == (hasEnded ? 0 : SIGKILL))
        }
    }
}
