import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createTestClock } from '../../../test/clock.ts'
import { execCredentials, tokenFileCredentials } from './credentials.ts'

const folder = await mkdtemp(join(tmpdir(), 'roost-credentials-'))
after(() => rm(folder, { recursive: true }))

const v1 = 'client.authentication.k8s.io/v1'
let count = 0
async function program(script: string, more: object = {}) {
  count += 1
  const command = `./program-${count}`
  await writeFile(join(folder, command), `#!/bin/sh\n${script}\n`)
  await chmod(join(folder, command), 0o755)
  return { command, apiVersion: v1, ...more }
}
const cluster = { server: 'https://one.example', ca: 'CA' }
const env = { PATH: process.env.PATH, ROOST_ENCRYPTION_KEY: 'own secret', AWS_PROFILE: 'agents' }
const reply = (status: object) =>
  `echo '${JSON.stringify({ apiVersion: v1, kind: 'ExecCredential', status })}'`

test('a token file is read again after a minute, and when the API refused the token', async () => {
  const clock = createTestClock()
  const path = join(folder, 'token')
  const credentials = tokenFileCredentials(path, clock)
  await assert.rejects(credentials.current(), /cannot be read/)
  await writeFile(path, 'one\n')
  assert.deepEqual(await credentials.current(), { token: 'one' })
  await writeFile(path, 'two\n')
  assert.deepEqual(await credentials.current(), { token: 'one' })
  await clock.advance(60)
  assert.deepEqual(await credentials.current(), { token: 'two' })
  await writeFile(path, 'three\n')
  assert.equal(credentials.forget(), true)
  assert.deepEqual(await credentials.current(), { token: 'three' })
})

test('a credential program runs once until its credential expires', async () => {
  const clock = createTestClock('2026-01-05T08:00:00.000Z')
  const calls = join(folder, 'calls')
  const expiring = reply({ token: 't', expirationTimestamp: '2026-01-05T08:10:00Z' })
  const spec = await program(`echo call >> ${calls}; ${expiring}`)
  const credentials = execCredentials(spec, { folder, env, cluster, clock })
  const callCount = async () => (await readFile(calls, 'utf8')).trim().split('\n').length
  await Promise.all([credentials.current(), credentials.current()])
  assert.deepEqual(await credentials.current(), { token: 't' })
  assert.equal(await callCount(), 1)
  await clock.advance(9 * 60 + 55)
  await credentials.current()
  assert.equal(await callCount(), 2)
  credentials.forget()
  await credentials.current()
  assert.equal(await callCount(), 3)
})

test('a credential program gets arguments, variables and the cluster, and no secret of the platform', async () => {
  const out = join(folder, 'seen')
  const script = `echo "$1 $OWN $AWS_PROFILE [$ROOST_ENCRYPTION_KEY]" > ${out}; echo "$KUBERNETES_EXEC_INFO" >> ${out}
${reply({ clientCertificateData: 'CERT', clientKeyData: 'KEY' })}`
  const spec = await program(script, { args: ['get-token'], env: [{ name: 'OWN', value: 'yes' }] })
  const credentials = execCredentials(spec, { folder, env, cluster })
  assert.deepEqual(await credentials.current(), { certificate: 'CERT', key: 'KEY' })
  const [first, info = ''] = (await readFile(out, 'utf8')).split('\n')
  assert.equal(first, 'get-token yes agents []')
  assert.deepEqual(JSON.parse(info).spec, {
    interactive: false,
    cluster: { server: 'https://one.example', 'certificate-authority-data': 'Q0E=' },
  })
})

test('a credential program that fails is an error with its reason and the hint', async () => {
  const table: [string, object, RegExp][] = [
    [
      'echo "session expired" >&2; exit 1',
      { installHint: 'Run login.' },
      /failed: session expired Run login\./,
    ],
    ['exit 3', {}, /exit code 3/],
    ['echo hello', {}, /printed no ExecCredential/],
    [reply({}), {}, /neither a token nor a certificate/],
    [reply({ token: 't', expirationTimestamp: 'soon' }), {}, /invalid expirationTimestamp/],
  ]
  for (const [script, more, message] of table) {
    const credentials = execCredentials(await program(script, more), { folder, env, cluster })
    await assert.rejects(credentials.current(), message)
  }
  const missing = execCredentials(
    { command: 'roost-no-such-program', apiVersion: v1 },
    { folder, env, cluster },
  )
  await assert.rejects(missing.current(), /ENOENT/)
})

test('a program that needs a terminal is refused', () => {
  const spec = { command: 'x', apiVersion: v1, interactiveMode: 'Always' }
  assert.throws(() => execCredentials(spec, { folder, env, cluster }), /ROOST_CONTAINERS_URL.*no terminal/)
})
