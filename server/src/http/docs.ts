import { createHash } from 'node:crypto'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { openApiDocument } from '@roost/contracts/openapi'
import type { FastifyInstance } from 'fastify'
import { compressed, type Encoding, encodingFor } from './compression.ts'

type Form = { body: string | Buffer; etag: string }

/**
 * Serves `/openapi.json`, which the page `/docs` of the web UI displays. The document is generated on the first request
 * and compressed once for each encoding.
 */
export function serveDocs(app: FastifyInstance, endpoints: readonly Endpoint[], version: string): void {
  let document: string | null = null
  const forms = new Map<Encoding | null, Promise<Form>>()
  const formOf = (encoding: Encoding | null) => {
    document ??= JSON.stringify(openApiDocument(endpoints, version))
    const form = forms.get(encoding) ?? makeForm(document, encoding)
    forms.set(encoding, form)
    return form
  }
  app.get('/openapi.json', async (request, reply) => {
    const encoding = encodingFor(request.headers['accept-encoding'])
    const { body, etag } = await formOf(encoding)
    reply.headers({ 'cache-control': 'no-cache', vary: 'accept-encoding', etag })
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
    if (encoding) reply.header('content-encoding', encoding)
    return reply.type('application/json; charset=utf-8').send(body)
  })
}

async function makeForm(document: string, encoding: Encoding | null): Promise<Form> {
  const digest = createHash('sha256').update(document).digest('base64url').slice(0, 22)
  // Each form has a tag of its own, because their bytes differ (RFC 9110, section 8.8.1).
  const etag = `"${digest}${encoding ? `-${encoding}` : ''}"`
  return { body: encoding ? await compressed(document, encoding) : document, etag }
}

/** True if the client holds this form. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
