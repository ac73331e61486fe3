/// The parts of the page.
enum PageText {
    static let html = """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>Caching proxy</title>
        <link rel="stylesheet" href="/.cache/page.css">
        <script src="/.cache/page.js" defer></script>
        <h1>Caching proxy</h1>
        <p id="totals">No requests yet.</p>
        <p id="demo"></p>
        <table>
        <thead><tr><th>method<th>path<th>status<th>Cache-Status<th>ms</thead>
        <tbody id="entries"></tbody>
        </table>
        <noscript>The page needs JavaScript.</noscript>
        </html>
        """

    static let css = """
        body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem; color-scheme: light dark; }
        button { margin: 0 .4rem .4rem 0; font: inherit; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884; overflow-wrap: anywhere; }
        th:last-child, td:last-child { text-align: right; padding-right: 0; }
        .hit { color: #1a8a3a; }
        """

    static let script = """
        'use strict'
        const byId = id => document.getElementById(id)

        function row (entry) {
          const row = document.createElement('tr')
          const { method, path, status, cacheStatus, milliseconds } = entry
          for (const value of [method, path, status, cacheStatus || '–', milliseconds.toFixed(2)]) {
            row.insertCell().textContent = value
          }
          if (/; hit(;|$)/.test(cacheStatus)) row.className = 'hit'
          return row
        }

        function button (path) {
          const button = document.createElement('button')
          button.textContent = 'GET ' + path
          button.addEventListener('click', async () => {
            // The browser's own cache must not respond. With no-store alone, the browser would also ask the proxy
            // to revalidate; fields of the script replace those that it would send.
            const headers = { 'Cache-Control': 'max-age=31536000', Pragma: 'unused' }
            await fetch(path, { cache: 'no-store', redirect: 'manual', headers }).catch(() => {})
            update()
          })
          return button
        }

        async function update () {
          try {
            const log = await (await fetch('/.cache/requests')).json()
            const totals = Object.entries(log.totals).sort().map(([kind, count]) => `${kind}: ${count}`)
            byId('totals').textContent = totals.join(', ') || 'No requests yet.'
            if (byId('demo').childElementCount !== log.demo.length) byId('demo').replaceChildren(...log.demo.map(button))
            byId('entries').replaceChildren(...log.entries.map(row))
          } catch {
            byId('totals').textContent = 'The proxy does not respond.'
          }
        }

        update()
        setInterval(update, 1000)
        """
}
