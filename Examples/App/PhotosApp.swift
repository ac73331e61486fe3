#if canImport(SwiftUI)
import Pipeline
import PipelineAuth
import SwiftUI

@main
struct PhotosApp: App {
    @State private var library = PhotoLibrary(
        transport: URLSessionTransport(),
        tokens: KeychainCredentialStore(service: "com.example.photos")
    )

    var body: some Scene {
        WindowGroup { PhotoListView(library: library) }
    }
}

#Preview {
    PhotoListView(library: PhotoLibrary(transport: StubTransport(), tokens: MemoryCredentialStore()))
}
#endif
