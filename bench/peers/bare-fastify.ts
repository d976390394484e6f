/** Peer of the agent list: one route that returns fixed bytes. */
import { fastify } from 'fastify'

process.once('message', async (bytes) => {
  const app = fastify()
  app.get('/api/agents', (_request, reply) => {
    reply.type('application/json; charset=utf-8').send(bytes)
  })
  process.send?.(`${await app.listen({ host: '127.0.0.1', port: 0 })}/api/agents`)
})
