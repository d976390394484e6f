import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { openApiDocument } from '@roost/contracts/openapi'
import type { FastifyInstance } from 'fastify'

/** The only files of the page's library that are served. */
const libraryFiles: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Roost API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const startScript = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
})
`

/** The page needs no inline script; its library uses inline styles and data URIs for icons. */
const pagePolicy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

/**
 * Serves `/openapi.json` and the interactive page at `/docs`. Needs no internet access. The document is
 * generated on the first request.
 */
export function serveDocs(app: FastifyInstance, endpoints: readonly Endpoint[], version: string): void {
  const library = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  let document: string | null = null
  app.get('/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(endpoints, version))
    reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(document)
  })
  app.get('/docs', (_request, reply) => {
    reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy)
    reply.header('x-content-type-options', 'nosniff').send(page)
  })
  app.get('/docs/start.js', (_request, reply) => {
    reply.type('text/javascript; charset=utf-8').send(startScript)
  })
  for (const [name, type] of Object.entries(libraryFiles)) {
    app.get(`/docs/${name}`, (_request, reply) => {
      reply.type(type).header('cache-control', 'public, max-age=86400')
      return reply.send(createReadStream(join(library, name)))
    })
  }
}
