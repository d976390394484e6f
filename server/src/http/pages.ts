import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fastifyStatic } from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Paths of the web UI's pages. The web UI routes below them itself. */
const pagePaths = [
  '/',
  '/setup',
  '/login',
  '/agents',
  '/agents/*',
  '/inbox',
  '/runs',
  '/schedules',
  '/people',
  '/keys',
  '/audit',
  '/executions/*',
  '/library',
  '/operations',
  '/costs',
  '/settings',
  '/account',
  '/workspace',
  '/workspace/*',
  '/chat/*',
  '/canvas/*',
  '/shared',
  '/shared/*',
  '/m',
  '/help',
  '/help/*',
  '/docs',
  '/docs/*',
] as const

/** Files of the build next to the page, with their media types. */
const rootFiles = {
  'favicon.svg': 'image/svg+xml',
  'boot.js': 'text/javascript; charset=utf-8',
  'sw.js': 'text/javascript; charset=utf-8',
  'manifest.webmanifest': 'application/manifest+json; charset=utf-8',
  'apple-touch-icon.png': 'image/png',
  'icon-192.png': 'image/png',
  'icon-512.png': 'image/png',
  'icon-maskable-512.png': 'image/png',
  'badge-96.png': 'image/png',
} as const

/** Browsers look for a new version at every page, so an old one never serves new pages. */
const workerHeaders = {
  'cache-control': 'no-cache',
  'content-security-policy': "default-src 'none'; connect-src 'self'; img-src 'self'",
}

export type Pages = {
  /** Responds to a browser at an unknown address; returns null for other clients. */
  notFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | null
}

/**
 * Serves the web UI from its build folder. Without a build (a checkout that was never started) `/` and `/docs` redirect
 * to the OpenAPI document and the guides to the error codes, which need no build; the result is null.
 */
export function servePages(app: FastifyInstance, folder: string): Pages | null {
  if (!existsSync(join(folder, 'index.html'))) {
    for (const path of ['/', '/docs', '/docs/*'])
      app.get(path, (_request, reply) => {
        reply.redirect('/openapi.json', 302)
      })
    for (const path of ['/help', '/help/*'])
      app.get(path, (_request, reply) => {
        reply.redirect('/help/errors', 302)
      })
    return null
  }
  app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    preCompressed: true,
    index: false,
    // File names contain a digest of the content.
    immutable: true,
    maxAge: '365d',
    setHeaders: (reply) => void reply.header('x-content-type-options', 'nosniff'),
  })
  for (const [name, type] of Object.entries(rootFiles)) {
    app.get(`/${name}`, async (_request, reply) => {
      const content = await readFile(join(folder, name))
      return reply
        .type(type)
        .headers({
          'x-content-type-options': 'nosniff',
          ...(name === 'sw.js' ? workerHeaders : { 'cache-control': 'public, max-age=86400' }),
        })
        .send(content)
    })
  }
  const send = async (reply: FastifyReply, status: 200 | 404) => {
    const nonce = randomBytes(16).toString('base64')
    // Read for each request, so that a new build needs no restart.
    const page = await readFile(join(folder, 'index.html'), 'utf8')
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .headers(pageHeaders(nonce))
      .send(page.replace('<head>', `<head>\n    <meta property="csp-nonce" nonce="${nonce}" />`))
  }
  for (const path of pagePaths) app.get(path, (_request, reply) => send(reply, 200))
  return {
    notFound(request, reply) {
      const isApi = request.url.startsWith('/api/')
      const wantsPage = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html')
      return wantsPage && !isApi ? send(reply, 404) : null
    },
  }
}

/**
 * Allows only scripts that are files of this server. The nonce is for style elements that libraries insert for
 * dialogs and editors.
 */
function pageHeaders(nonce: string): Record<string, string> {
  const policy = [
    `default-src 'self'`,
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data: blob:`,
    `media-src 'self' blob:`,
    `connect-src 'self'`,
    `frame-src 'self' blob:`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
  ]
  return {
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(self), payment=(), usb=()',
  }
}
