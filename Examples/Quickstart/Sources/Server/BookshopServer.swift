import FlyingFox
import Foundation

/// The server side of the bookshop.
///
/// It refuses orders without the right access token.
enum BookshopServer {
    static let token = "2YotnFZFEjr1zCsicMWpAA"

    private static let books = [
        Book(id: 1, title: "The Left Hand of Darkness", author: "Le Guin"),
        Book(id: 2, title: "The Dispossessed", author: "Le Guin"),
        Book(id: 3, title: "Solaris", author: "Lem"),
    ]

    static func addRoutes(to server: HTTPServer) async {
        let root = "/bookshop.example/v1"
        await server.appendRoute(HTTPRoute("GET \(root)/books")) { request in
            let author = request.query["author"]
            return try .json(books.filter { author == nil || $0.author == author })
        }
        await server.appendRoute(HTTPRoute("GET \(root)/books/:id")) { request in
            guard let book = books.first(where: { String($0.id) == request.routeParameters["id"] }) else {
                return try .refusal(.notFound, "no such book")
            }
            return try .json(book)
        }
        await server.appendRoute(HTTPRoute("GET \(root)/bestseller")) { _ in
            .redirect(to: "\(root)/books/2")
        }
        await server.appendRoute(HTTPRoute("POST \(root)/orders")) { request in
            guard request.headers[.authorization] == "Bearer \(token)" else {
                return try .refusal(.unauthorized, "an order requires an access token")
            }
            let order = try JSONDecoder().decode(Order.self, from: try await request.bodyData)
            return try .json(["receipt": Receipt(number: 4711, copies: order.copies)], .created)
        }
    }
}
