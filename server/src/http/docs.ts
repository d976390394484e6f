import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { openApiDocument } from '@roost/contracts/openapi'
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'

/**
 * `/openapi.json` and the interactive page at `/docs`. The page and its script come from this server, so it
 * works on a machine without a way to the internet.
 */
export async function serveDocs(
  app: FastifyInstance,
  endpoints: readonly Endpoint[],
  version: string,
): Promise<void> {
  const document = openApiDocument(endpoints, version)
  const text = JSON.stringify(document)
  app.get('/openapi.json', (_request, reply) => {
    reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(text)
  })
  app.get('/', (_request, reply) => {
    reply.redirect('/docs/', 302)
  })
  await app.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      telemetry: false,
      withDefaultFonts: false,
      hideClientButton: true,
    },
  })
}
