import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { deleteAgent } from './agents/registry.ts'
import { ApiError, createClient } from './client.ts'
import { deleteSchedule, getSchedule } from './triggers/schedules.ts'

async function openWorld() {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', 'application/json').end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    requests,
    client: createClient(`http://127.0.0.1:${port}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

for (const id of ['..', '.', '', 'a\ud800b']) {
  test(`404 for the id ${JSON.stringify(id)}; no other endpoint is called`, async () => {
    await using world = await openWorld()
    const params = { name: 'scout', id }
    await assert.rejects(world.client.call(deleteSchedule, { params }), (error) => {
      assert.ok(error instanceof ApiError)
      assert.deepEqual([error.status, error.body?.error], [404, 'not_found'])
      assert.match(error.message, /"id" must not be/)
      return true
    })
    const bare = await world.client.open(getSchedule, { params })
    assert.equal(bare.status, 404)
    await assert.rejects(world.client.call(deleteAgent, { params: { name: id } }), ApiError)
    assert.deepEqual(world.requests, [])
  })
}

test('an id that contains dots, slashes and escapes reaches its own endpoint', async () => {
  await using world = await openWorld()
  for (const id of ['...', '../x', '%2e%2e', 'a/..', '..%2f']) {
    await world.client.call(deleteSchedule, { params: { name: 'scout', id } })
  }
  assert.deepEqual(world.requests, [
    'DELETE /api/agents/scout/schedules/...',
    'DELETE /api/agents/scout/schedules/..%2Fx',
    'DELETE /api/agents/scout/schedules/%252e%252e',
    'DELETE /api/agents/scout/schedules/a%2F..',
    'DELETE /api/agents/scout/schedules/..%252f',
  ])
})
