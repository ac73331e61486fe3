// SQLite of the system, whose header is SQLite's own (https://developer.apple.com/documentation/sqlite3), without
// annotations of Apple: https://sqlite.org/c3ref/intro.html. The versions differ; the sources need 3.31 or later.
@_exported public import CSQLite
