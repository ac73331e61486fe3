import Foundation

/// What shows the page of an inspector.
protocol InspectorOutput: Sendable {
    func page() async throws -> URL
    /// Called when the plugin is released.
    func end()
}
