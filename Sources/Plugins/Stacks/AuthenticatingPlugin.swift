public import Pipeline

/// A plugin that puts the credentials of a user, or of the client, into requests.
///
/// Other plugins look for it to say in `explain()` where it stands wrongly: inside ``DeduplicationPlugin`` two users could share
/// an answer, outside ``RetryPlugin`` every attempt has the credentials of the first. Your own plugin conforms to be looked for
/// too.
public protocol AuthenticatingPlugin: PluginType {}
