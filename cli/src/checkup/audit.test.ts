import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { AuditVerification } from '@roost/contracts/foundation/audit'
import { askForAudit, checkAudit } from './audit.ts'

/** The internal address of a platform that answers so. */
async function platform(t: TestContext, status: number, body: object): Promise<string> {
  const server = createServer((request, response) => {
    const isAsked = request.url === '/api/internal/audit-log/verification'
    response
      .writeHead(isAsked ? status : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  // A listening TCP server has such an address.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('says in plain words whether the log is as it was written', async (t) => {
  const cases: [AuditVerification, state: string, words: RegExp][] = [
    [{ valid: true, status: 'verified', checked: 12 }, 'ok', /^12 entries, none of them changed/],
    [{ valid: null, status: 'empty_range', checked: 0 }, 'ok', /no entries yet/],
    [
      { valid: false, status: 'tampered', checked: 9, first_invalid_id: 7 },
      'fail',
      /entry 7 was changed, removed or put in/,
    ],
  ]
  for (const [answer, state, words] of cases) {
    const finding = await askForAudit(await platform(t, 200, answer))
    assert.equal(finding.state, state)
    assert.match(finding.words, words)
  }
})

test('says what was answered instead, and that nobody answers', async (t) => {
  const broken = { detail: 'Something went wrong on our side.', error: 'internal_error' }
  const failing = await askForAudit(await platform(t, 500, broken))
  assert.deepEqual([failing.state, failing.about], ['warn', 'audit log'])
  assert.match(failing.words, /Something went wrong/)
  assert.match((await askForAudit('http://127.0.0.1:9')).words, /does not answer/)
})

test('asks nobody while the platform does not run', async () => {
  const finding = await checkAudit({}, { state: 'down' })
  assert.deepEqual([finding.state, finding.words], ['ok', 'is looked at while the platform answers'])
})
