import Foundation

#if canImport(os)
import os
#endif

/// Lines for the developer of a program, about how it uses the library.
enum DeveloperWarning {
    /// Writes a line to the system's log on Apple platforms, and to standard error elsewhere.
    static func write(_ message: String) {
        #if canImport(os)
        Logger(subsystem: "Pipeline", category: "stack").warning("\(message, privacy: .public)")
        #else
        // The process may have no standard error.
        try? FileHandle.standardError.write(contentsOf: Data("warning: \(message)\n".utf8))
        #endif
    }
}
