import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { EgressAuthority } from '@roost/contracts/agents/egress'
import { fetchAuthority } from './egress.ts'

const secret = 'the-internal-secret-of-this-installation'
const environment = (port: number) => ({ ROOST_INTERNAL_PORT: String(port), ROOST_INTERNAL_SECRET: secret })

/** Starts a server with this response and returns the environment in which it is the platform's internal port. */
async function platform(t: TestContext, body: EgressAuthority): Promise<NodeJS.ProcessEnv> {
  const server = createServer((request, response) => {
    const isAuthority =
      request.url === '/api/internal/egress-authority' && request.headers.authorization === `Bearer ${secret}`
    const status = isAuthority ? 200 : 404
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // The address of a listening TCP server is an object.
  return environment((server.address() as AddressInfo).port)
}

const now = new Date('2030-01-01T00:00:00.000Z')
const at = (signs: string | null, renews: string | null, trusted: number): EgressAuthority => ({
  signs_until: signs && `${signs}T00:00:00.000Z`,
  renews_at: renews && `${renews}T00:00:00.000Z`,
  trusted,
})

test('reports how long the authority is valid and when it is renewed', async (t) => {
  const cases: [EgressAuthority, state: string, message: RegExp][] = [
    [at(null, null, 0), 'ok', /^not needed/],
    [
      at('2039-12-30', '2038-12-30', 1),
      'ok',
      /^valid until 2039-12-30 \(3650 days\); renewed automatically from 2038/,
    ],
    [at('2030-04-01', '2038-12-30', 2), 'ok', /\(90 days\); the next one exists/],
    [at('2030-06-01', '2029-06-01', 1), 'warn', /renewal overdue since 2029-06-01$/],
  ]
  for (const [answer, state, message] of cases) {
    const finding = await fetchAuthority(await platform(t, answer), now)
    assert.equal(finding.state, state)
    assert.match(finding.message, message)
  }
})

test('warns when the platform does not answer', async () => {
  assert.equal((await fetchAuthority(environment(9), now)).state, 'warn')
})
