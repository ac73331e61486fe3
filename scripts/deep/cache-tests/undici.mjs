// What the suite needs of undici: an agent whose interceptor sees interim responses. It has the interface that fetch of Node.js 20
// expects of a dispatcher, and serves only requests without a body.
import http from 'node:http'

export class Agent {
  compose (interceptor) {
    return {
      dispatch (options, handler) {
        let collector
        interceptor((_, wrapped) => { collector = wrapped })(options, {})
        return send(options, handler, collector)
      }
    }
  }
}

function send (options, handler, collector) {
  const url = new URL(options.path, options.origin)
  const headers = Array.isArray(options.headers) ? options.headers : Object.entries(options.headers).flat()
  const request = http.request(url, { method: options.method, agent: false })
  for (let i = 0; i < headers.length; i += 2) request.appendHeader(String(headers[i]), String(headers[i + 1]))
  request.on('information', info => collector.onResponseStart(null, info.statusCode, info.headers, info.statusMessage))
  request.on('error', error => handler.onError(error))
  request.on('response', response => {
    const raw = response.rawHeaders.map(text => Buffer.from(text, 'latin1'))
    handler.onHeaders(response.statusCode, raw, () => response.resume(), response.statusMessage)
    response.on('data', bytes => { if (handler.onData(bytes) === false) response.pause() })
    response.on('end', () => handler.onComplete([]))
    response.on('error', error => handler.onError(error))
  })
  handler.onConnect(error => request.destroy(error))
  request.end()
  return true
}
