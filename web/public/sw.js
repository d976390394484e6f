/**
 * The service worker: shows notifications, and a page of its own while the platform cannot be reached. It stores
 * nothing, so an old page is never shown and nothing of a person stays on the device.
 */
const retryMs = 400

addEventListener('install', (event) => {
  event.waitUntil(self.skipWaiting())
})

addEventListener('activate', (event) => {
  event.waitUntil(self.clients.claim())
})

addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url)
  const isPage = event.request.mode === 'navigate' && event.request.method === 'GET'
  // Everything else, also downloads, is left to the browser.
  if (isPage && !pathname.startsWith('/api/')) event.respondWith(page(event.request))
})

async function page(request) {
  try {
    return await fetch(request)
  } catch {
    // Phones change networks: the next attempt often works.
    await new Promise((resolve) => setTimeout(resolve, retryMs))
    return fetch(request).catch(unreachable)
  }
}

function unreachable() {
  const nonce = crypto.randomUUID()
  const text = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Roost cannot be reached</title>
    <style nonce="${nonce}">
      body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; display: grid; place-items: center; min-height: 100vh }
      main { max-width: 24rem; padding: 1.5rem }
      h1 { font-size: 1.25rem; margin: 0 }
      a { color: inherit }
    </style>
  </head>
  <body>
    <main>
      <h1>Roost cannot be reached</h1>
      <p>Check the connection of this device. If it works elsewhere, the platform may be stopped.</p>
      <p>Roost opens as soon as it answers. <a href="">Try again now</a></p>
    </main>
    <script nonce="${nonce}">
      setInterval(() => fetch('/health', { cache: 'no-store' }).then(() => location.reload(), () => {}), 5000)
    </script>
  </body>
</html>`
  return new Response(text, {
    status: 503,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'`,
    },
  })
}

addEventListener('push', (event) => {
  const { title = 'Roost', body = '', item = null } = event.data?.json() ?? {}
  event.waitUntil(
    self.registration.showNotification(title, {
      body,
      // A repeated message replaces the first one.
      tag: item ?? 'test',
      icon: '/icon-192.png',
      badge: '/badge-96.png',
      data: { path: item === null ? '/inbox' : `/inbox?item=${encodeURIComponent(item)}` },
    }),
  )
})

addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data?.path ?? '/inbox'))
})

/** Pages that strangers may see, and guides, stay as they are. */
const otherPages = /^\/(chat|canvas|help|docs)(\/|$)/

async function open(path) {
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const app = windows.find(({ url }) => !otherPages.test(new URL(url).pathname))
  if (!app) return self.clients.openWindow(path)
  await app.focus().catch(() => {})
  // The page opens the item itself, which keeps its state.
  app.postMessage({ type: 'open', path })
}
