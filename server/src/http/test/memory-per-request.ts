/** Prints how many bytes a request leaves in old space, where they stay until a major garbage collection. */
import { Agent, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getHeapSpaceStatistics } from 'node:v8'
import { silentLog } from '../../ports/log.ts'
import { internalHealthRoutes } from '../health.ts'
import { listen } from '../listen.ts'
import { createServer } from '../serve.ts'

const requests = 1500
const { gc } = globalThis
if (!gc) throw new Error('needs --expose-gc')

const app = createServer({
  routes: internalHealthRoutes(),
  log: silentLog,
  trustedProxies: [],
  guard: async () => ({ caller: { kind: 'anonymous' }, agent: null, relation: null }),
  checkReplies: false,
})
await app.ready()
const { server, close } = await listen({ host: '127.0.0.1', port: 0 }, (request, response) => {
  app.routing(request, response)
})
const { port } = server.address() as AddressInfo
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

async function send(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await new Promise<void>((resolve, reject) => {
      get({ port, path: '/api/internal/health', agent }, (reply) => {
        reply.resume().once('end', resolve)
      }).once('error', reject)
    })
    if (index % 10 === 0) gc?.({ type: 'minor' })
  }
  for (const _ of [1, 2]) gc?.({ type: 'minor' })
}

const oldSpace = () =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => !/^(new|read_only)/.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0)

await send(requests)
gc()
const before = oldSpace()
await send(requests)
console.log((oldSpace() - before) / requests)
agent.destroy()
await close(0)
