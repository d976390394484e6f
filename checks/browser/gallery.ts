import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { build } from 'vite'

const web = join(import.meta.dirname, '../../web')

/**
 * Builds a page of `web/src/test/` and serves it under the platform's policy. Default: the gallery of
 * components.
 */
export async function openGallery(page = 'gallery'): Promise<{ url: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-gallery-'))
  await build({
    root: web,
    configFile: join(web, 'vite.config.ts'),
    logLevel: 'error',
    build: {
      outDir: folder,
      emptyOutDir: true,
      rollupOptions: { input: join(web, `src/test/${page}.html`) },
    },
  })
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://gallery').pathname)
    send(response, folder, path === '/' ? `/src/test/${page}.html` : path).catch(() => {
      response.writeHead(404).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function send(response: ServerResponse, folder: string, path: string): Promise<void> {
  const body = await readFile(join(folder, path))
  if (extname(path) !== '.html') {
    response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' }).end(body)
    return
  }
  const nonce = randomBytes(16).toString('base64')
  const policy = [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'none'",
  ].join('; ')
  const page = body.toString().replace('</title>', `</title><meta property="csp-nonce" nonce="${nonce}" />`)
  response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(page)
}

const types: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
}
