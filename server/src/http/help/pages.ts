import {
  type ErrorCode,
  errorCatalogue,
  errorHelpPath,
  sentenceOf,
  statusOf,
} from '@roost/contracts/kit/errors'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Fault } from '../../kit/fault.ts'
import { errorHelp } from './errors.ts'

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
code{font-size:.95em}h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:1.5rem}table{border-collapse:collapse}
td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0}`
const stylePath = '/help/errors.css'
const policy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const codes = Object.keys(errorCatalogue) as ErrorCode[]

/**
 * Serves a page for each error code, and a list of all, without a credential: a person who cannot sign in needs them,
 * and they contain nothing of this installation. Plain HTML, so that they also work without scripts and offline.
 */
export function serveErrorHelp(app: FastifyInstance): void {
  const pages = new Map<string, string>(codes.map((code) => [code, errorPage(code)]))
  const list = listPage()
  app.get('/help/errors', (_request, reply) => send(reply, list))
  app.get(stylePath, (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=86400').send(style),
  )
  app.get<{ Params: { code: string } }>('/help/errors/:code', (request, reply) => {
    const page = pages.get(request.params.code)
    if (page === undefined) throw new Fault('not_found', 'There is no such error code: see /help/errors.')
    return send(reply, page)
  })
}

function send(reply: FastifyReply, page: string): FastifyReply {
  reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' })
  return reply.type('text/html; charset=utf-8').send(page)
}

function errorPage(code: ErrorCode): string {
  const [cause, remedy] = errorHelp[code]
  return htmlPage(
    code,
    `<p><a href="/help">Guides</a> · <a href="/help/errors">All errors</a></p>
<h1><code>${code}</code></h1>
<p>${escaped(sentenceOf(code))}</p>
<h2>Cause</h2>
<p>${escaped(cause)}</p>
<h2>What to do</h2>
<p>${escaped(remedy)}</p>
<p>HTTP status ${statusOf(code)}</p>`,
  )
}

function listPage(): string {
  const rows = codes.map(
    (code) =>
      `<tr><td>${statusOf(code)}</td><td><a href="${errorHelpPath(code)}"><code>${code}</code></a></td><td>${escaped(sentenceOf(code))}</td></tr>`,
  )
  return htmlPage(
    'Errors',
    `<p><a href="/help">Guides</a></p>
<h1>Errors</h1>
<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`,
  )
}

function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Roost</title>
<link rel="stylesheet" href="${stylePath}">
</head>
<body>
${body}
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
