import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLog } from '../ports/log.ts'
import { type Pages, servePages } from './pages.ts'
import { createServer } from './serve.ts'

async function serve({ isBuilt = true } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-pages-'))
  if (isBuilt) {
    await mkdir(join(folder, 'assets'))
    await writeFile(join(folder, 'index.html'), '<!doctype html><html><head></head><body>Roost</body></html>')
    await writeFile(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
    await writeFile(join(folder, 'sw.js'), 'addEventListener("push", () => {})')
    await writeFile(join(folder, 'manifest.webmanifest'), '{"start_url":"/m"}')
    await writeFile(join(folder, 'assets/main-abc.js'), 'console.log(1)')
    await writeFile(join(folder, 'assets/main-abc.js.br'), 'compressed')
  }
  let pages: Pages | null = null
  const app = createServer({
    routes: [],
    log: createLog({ level: 'silent' }),
    trustedProxies: [],
    // There are no routes that use the guard.
    guard: undefined as never,
    checkReplies: false,
    notFoundPage: (request, reply) => pages?.notFound(request, reply) ?? null,
  })
  pages = servePages(app, folder)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    get: (path: string, headers: Record<string, string> = {}) =>
      fetch(url + path, { headers, redirect: 'manual' }),
    async [Symbol.asyncDispose]() {
      await app.close()
      await rm(folder, { recursive: true })
    },
  }
}

for (const path of [
  '/',
  '/setup',
  '/agents/scout',
  '/agents/scout/executions/abc',
  '/agents',
  '/keys?all=true',
  '/operations?tab=queue',
  '/help',
  '/help/how-to/chat',
  '/docs',
  '/docs/listAgents',
]) {
  test(`200 and the application at ${path}`, async () => {
    await using server = await serve()
    const reply = await server.get(path)
    assert.equal(reply.status, 200)
    assert.match(await reply.text(), /Roost/)
  })
}

test('pages have a policy without inline scripts and a new nonce each', async () => {
  await using server = await serve()
  const nonces = await Promise.all(
    [1, 2].map(async () => {
      const reply = await server.get('/')
      const policy = reply.headers.get('content-security-policy') ?? ''
      assert.match(policy, /script-src 'self';/)
      assert.match(policy, /object-src 'none'/)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.doesNotMatch(policy, /unsafe/)
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? assert.fail('no nonce')
      assert.ok((await reply.text()).includes(`nonce="${nonce}"`))
      return nonce
    }),
  )
  assert.notEqual(nonces[0], nonces[1])
})

test('the service worker is never cached and may load nothing from elsewhere; the manifest has its type', async () => {
  await using server = await serve()
  const worker = await server.get('/sw.js')
  assert.equal(worker.headers.get('cache-control'), 'no-cache')
  assert.match(worker.headers.get('content-type') ?? '', /^text\/javascript/)
  assert.match(worker.headers.get('content-security-policy') ?? '', /^default-src 'none'; connect-src 'self'/)
  const manifest = await server.get('/manifest.webmanifest')
  assert.match(manifest.headers.get('content-type') ?? '', /^application\/manifest\+json/)
  assert.equal(manifest.headers.get('cache-control'), 'public, max-age=86400')
})

test('files of the build are compressed and cacheable for a year', async () => {
  await using server = await serve()
  const reply = await server.get('/assets/main-abc.js', { 'accept-encoding': 'br' })
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-encoding'), 'br')
  assert.match(reply.headers.get('cache-control') ?? '', /immutable/)
  assert.match(reply.headers.get('content-type') ?? '', /javascript/)
})

test('404 for files outside the build', async () => {
  await using server = await serve()
  for (const path of ['/assets/nothing.js', '/assets/..%2findex.html', '/assets/%2e%2e/index.html']) {
    assert.equal((await server.get(path)).status, 404, path)
  }
})

test('404 at an unknown address: the page for browsers, the error body for programs', async () => {
  await using server = await serve()
  const browser = await server.get('/nowhere', { accept: 'text/html,application/xhtml+xml' })
  assert.equal(browser.status, 404)
  assert.match(await browser.text(), /Roost/)
  const program = await server.get('/api/nowhere', { accept: '*/*' })
  assert.equal(program.status, 404)
  assert.equal(((await program.json()) as { error: string }).error, 'not_found')
})

test('without a build the start page redirects to the OpenAPI document, and the guides to the error codes', async () => {
  await using server = await serve({ isBuilt: false })
  for (const [path, target] of [
    ['/', '/openapi.json'],
    ['/docs', '/openapi.json'],
    ['/docs/listAgents', '/openapi.json'],
    ['/help', '/help/errors'],
    ['/help/tutorial', '/help/errors'],
  ] as const) {
    const reply = await server.get(path)
    assert.equal(reply.status, 302)
    assert.equal(reply.headers.get('location'), target)
  }
})
