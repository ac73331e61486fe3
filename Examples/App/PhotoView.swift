#if canImport(SwiftUI)
import Foundation
import Pipeline
import SwiftUI

struct PhotoView: View {
    let photo: Photo
    let library: PhotoLibrary
    @State private var image: Image?
    @State private var failure: String?
    @State private var attempt = 0

    var body: some View {
        ZStack {
            if let image { image.resizable().scaledToFit() } else if failure == nil { ProgressView() }
        }
        .frame(maxWidth: .infinity, maxHeight: .infinity)
        .safeAreaInset(edge: .bottom) {
            if let failure { ErrorBanner(text: failure) { attempt += 1 } }
        }
        .navigationTitle(photo.title)
        .task(id: attempt) { await load() }
    }

    private func load() async {
        failure = nil
        do {
            let picture = try await library.imageResponse(for: photo).mapImage()
            #if canImport(UIKit)
            image = Image(uiImage: picture)
            #else
            image = Image(nsImage: picture)
            #endif
        } catch is CancellationError {
            return
        } catch {
            failure = error.localizedDescription
        }
    }
}
#endif
