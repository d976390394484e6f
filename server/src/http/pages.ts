import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fastifyStatic } from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Addresses of the application's pages (contract 12). What is below them the application decides itself. */
const pagePaths = [
  '/',
  '/setup',
  '/login',
  '/agents/*',
  '/executions/*',
  '/library',
  '/operations',
  '/settings',
  '/account',
  '/workspace',
  '/workspace/*',
  '/chat/*',
  '/canvas/*',
  '/m',
] as const

/** Files of the build that stand beside the page, by their media type. */
const rootFiles = {
  'favicon.svg': 'image/svg+xml',
  'boot.js': 'text/javascript; charset=utf-8',
} as const

export type Pages = {
  /** Answers a browser that asked for an address of which nothing is known; null for other callers. */
  notFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | null
}

/**
 * The web UI from the folder of its build. Without a build (a checkout that was never brought up) `/` leads to
 * the API reference and nothing else is served; null then.
 */
export function servePages(app: FastifyInstance, folder: string): Pages | null {
  if (!existsSync(join(folder, 'index.html'))) {
    app.get('/', (_request, reply) => {
      reply.redirect('/docs', 302)
    })
    return null
  }
  app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    preCompressed: true,
    index: false,
    // Their names carry a digest of what is in them.
    immutable: true,
    maxAge: '365d',
    setHeaders: (reply) => void reply.header('x-content-type-options', 'nosniff'),
  })
  for (const [name, type] of Object.entries(rootFiles)) {
    app.get(`/${name}`, async (_request, reply) => {
      const content = await readFile(join(folder, name))
      return reply
        .type(type)
        .headers({ 'cache-control': 'public, max-age=86400', 'x-content-type-options': 'nosniff' })
        .send(content)
    })
  }
  const send = async (reply: FastifyReply, status: 200 | 404) => {
    const nonce = randomBytes(16).toString('base64')
    // Read each time: a new build names other files, and the platform need not be started again for it.
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
 * No script runs that is not a file of this server. The nonce is for the style elements that libraries put
 * in while a dialog is open or an editor is drawn.
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
