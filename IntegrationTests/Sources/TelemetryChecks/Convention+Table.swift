extension Convention {
    /// What OpenTelemetry's semantic conventions say of HTTP clients, as `scripts/deep/otel-table/run` prints it.
    ///
    /// Source: https://github.com/open-telemetry/semantic-conventions/tree/v1.44.0/model, commit
    /// e10a930844c6951757a43b849d364f7d056ac32b
    static let table = """
        error.type | string | _OTHER
        http.request.body.size | int
        http.request.header | template[string[]]
        http.request.method | string | CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE QUERY _OTHER
        http.request.method_original | string
        http.request.resend_count | int
        http.request.size | int
        http.response.body.size | int
        http.response.header | template[string[]]
        http.response.size | int
        http.response.status_code | int
        network.peer.address | string
        network.peer.port | int
        network.protocol.name | string
        network.protocol.version | string
        network.transport | string | tcp udp pipe unix quic
        server.address | string
        server.port | int
        url.full | string
        url.scheme | string
        url.template | string
        user_agent.original | string
        user_agent.synthetic.type | string | bot test

        span.http.client | client
        error.type | conditionally_required | If request has ended with an error.
        http.request.body.size | opt_in
        http.request.header | opt_in
        http.request.method | required
        http.request.method_original | conditionally_required | If and only if it's different than `http.request.method`.
        http.request.resend_count | recommended | if and only if request was retried.
        http.request.size | opt_in
        http.response.body.size | opt_in
        http.response.header | opt_in
        http.response.size | opt_in
        http.response.status_code | conditionally_required | If and only if one was received/sent.
        network.peer.address | recommended
        network.peer.port | recommended | If `network.peer.address` is set.
        network.protocol.name | conditionally_required | If not `http` and `network.protocol.version` is set.
        network.protocol.version | recommended
        network.transport | opt_in
        server.address | required
        server.port | required
        url.full | required
        url.scheme | opt_in
        url.template | opt_in
        user_agent.original | opt_in
        user_agent.synthetic.type | opt_in

        http.client.request.duration | histogram | s
        error.type | conditionally_required | If request has ended with an error.
        http.request.method | required
        http.response.status_code | conditionally_required | If and only if one was received/sent.
        network.protocol.name | conditionally_required | If not `http` and `network.protocol.version` is set.
        network.protocol.version | recommended
        server.address | required
        server.port | required
        url.scheme | opt_in
        url.template | opt_in

        http.client.active_requests | updowncounter | {request}
        http.request.method | recommended
        server.address | required
        server.port | required
        url.scheme | opt_in
        url.template | conditionally_required | If available.

        http.client.request.body.size | histogram | By
        error.type | conditionally_required | If request has ended with an error.
        http.request.method | required
        http.response.status_code | conditionally_required | If and only if one was received/sent.
        network.protocol.name | conditionally_required | If not `http` and `network.protocol.version` is set.
        network.protocol.version | recommended
        server.address | required
        server.port | required
        url.scheme | opt_in
        url.template | conditionally_required | If available.

        http.client.response.body.size | histogram | By
        error.type | conditionally_required | If request has ended with an error.
        http.request.method | required
        http.response.status_code | conditionally_required | If and only if one was received/sent.
        network.protocol.name | conditionally_required | If not `http` and `network.protocol.version` is set.
        network.protocol.version | recommended
        server.address | required
        server.port | required
        url.scheme | opt_in
        url.template | conditionally_required | If available.
        """
}
