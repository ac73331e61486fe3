#if os(macOS) || os(Linux)
package import Foundation

extension Process {
    /// Starts the process, and kills it if it has not ended in time, so that no test waits for it forever.
    ///
    /// - Parameter seconds: the time in real time.
    /// - Throws: an error if the process does not start.
    package func run(within seconds: Int) throws {
        try run()
        let process = self
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
            guard process.isRunning else { return }
            let name = process.executableURL?.lastPathComponent ?? "a process"
            FileHandle.standardError.write(Data("error: \(name) did not end in \(seconds) s and is killed\n".utf8))
            _ = kill(process.processIdentifier, SIGKILL)
        }
    }
}
#endif
