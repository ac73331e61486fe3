// Foundation of Android, which re-exports its C library.
@_exported public import Android
