import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { AuditVerification } from '@roost/contracts/foundation/audit'
import { checkAudit, fetchAudit } from './audit.ts'

const secret = 'the-internal-secret-of-this-installation'
const environment = (port: number) => ({ ROOST_INTERNAL_PORT: String(port), ROOST_INTERNAL_SECRET: secret })

/** Starts a server with this response and returns the environment in which it is the platform's internal port. */
async function platform(t: TestContext, status: number, body: object): Promise<NodeJS.ProcessEnv> {
  const server = createServer((request, response) => {
    const isVerification =
      request.url === '/api/internal/audit-log/verification' &&
      request.headers.authorization === `Bearer ${secret}`
    response
      .writeHead(isVerification ? status : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  // The address of a listening TCP server is an object.
  return environment((server.address() as AddressInfo).port)
}

test('reports an unchanged, an empty and a tampered log', async (t) => {
  const cases: [AuditVerification, state: string, message: RegExp][] = [
    [{ valid: true, status: 'verified', checked: 12 }, 'ok', /^12 entries, none changed or removed/],
    [{ valid: null, status: 'empty_range', checked: 0 }, 'ok', /no entries yet/],
    [
      { valid: false, status: 'tampered', checked: 9, first_invalid_id: 7 },
      'fail',
      /entry 7 was changed, removed or inserted/,
    ],
  ]
  for (const [answer, state, message] of cases) {
    const finding = await fetchAudit(await platform(t, 200, answer))
    assert.equal(finding.state, state)
    assert.match(finding.message, message)
  }
})

test('warns with the error of the platform, and when the platform does not answer', async (t) => {
  const broken = { detail: 'Something went wrong on our side.', error: 'internal_error' }
  const failing = await fetchAudit(await platform(t, 500, broken))
  assert.deepEqual([failing.state, failing.about], ['warn', 'audit log'])
  assert.match(failing.message, /Something went wrong/)
  assert.match((await fetchAudit(environment(9))).message, /does not answer/)
})

test('sends no request when the platform is not running', async () => {
  const finding = await checkAudit({}, { state: 'down' })
  assert.deepEqual([finding.state, finding.message], ['ok', 'not checked: the platform does not answer'])
})
