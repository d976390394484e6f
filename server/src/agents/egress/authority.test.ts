import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, test } from 'node:test'
import { connect, TLSSocket } from 'node:tls'
import { createThrowawayVault } from '../../foundation/vault/index.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { type Authority, createAuthority } from './authority.ts'
import { leafUntil, rolesOf } from './authority-rules.ts'

const day = 24 * 3600 * 1000
const start = new Date('2030-01-01T00:00:00.000Z')
const after = (days: number) => new Date(start.getTime() + days * day)

describe('roles of the authorities', () => {
  const [first, second] = [
    { id: 1, until: after(3650) },
    { id: 2, until: after(6940) },
  ]
  const at = (days: number, ...all: { id: number; until: Date }[]) => {
    const { signer, trusted, over, isNextDue } = rolesOf(all, after(days))
    return [signer?.id ?? null, trusted.map(({ id }) => id), over.map(({ id }) => id), isNextDue]
  }
  for (const [title, days, all, expected] of [
    ['none', 0, [], [null, [], [], true]],
    ['a new one', 10, [first], [1, [1], [], false]],
    ['one in its last year', 3290, [first], [1, [1], [], true]],
    ['one in its last year, next to its successor', 3290, [second, first], [1, [1, 2], [], false]],
    ['one in its last months, next to its successor', 3561, [first, second], [2, [1, 2], [], false]],
    ['one in its last months, without a successor', 3561, [first], [1, [1], [], true]],
    ['one that has expired', 3650, [first], [null, [], [1], true]],
    ['one that has expired, next to its successor', 3651, [first, second], [2, [2], [1], false]],
  ] as const)
    test(title, () => assert.deepEqual(at(days, ...all), expected))

  test('no certificate outlives its authority', () => {
    assert.deepEqual(leafUntil(after(3640), 30, first), first.until)
    assert.deepEqual(leafUntil(after(10), 30, first), after(40))
  })
})

const parts = (pem: string) => pem.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []
const caOf = (pem: string) => parts(pem).map((each) => new X509Certificate(each))

/** The certificate presented for a host by this authority. */
async function presentedCertificate(authority: Authority, host: string): Promise<X509Certificate> {
  const secureContext = await authority.contextFor(host)
  const server = createServer((socket) => {
    new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect({
    ...Object(server.address()),
    host: '127.0.0.1',
    servername: host,
    rejectUnauthorized: false,
  })
  await once(socket, 'secureConnect')
  const raw = socket.getPeerCertificate().raw
  socket.destroy()
  server.close()
  return new X509Certificate(raw)
}

forEachDialect((_, db) => {
  test('the authority is renewed a year before its end, and agents trust both before the new one signs', async () => {
    await using database = await db()
    const clock = { value: start, now: () => clock.value }
    const deps = { db: database, clock, vault: createThrowawayVault() }
    const authority = createAuthority(deps)
    await authority.renew()
    assert.deepEqual(await authority.view(), { signs_until: null, renews_at: null, trusted: 0 })

    const [old = assert.fail()] = caOf(await authority.certificate())
    assert.deepEqual(await authority.view(), {
      signs_until: after(3650).toISOString(),
      renews_at: after(3285).toISOString(),
      trusted: 1,
    })
    clock.value = after(3284)
    await authority.renew()
    assert.equal((await authority.view()).trusted, 1)

    clock.value = after(3286)
    // Several processes renew at the same time.
    const others = Array.from({ length: 20 }, () => createAuthority(deps))
    await Promise.all(others.map((each) => each.renew()))
    assert.equal((await authority.view()).trusted, 2)
    const both = caOf(await authority.certificate())
    assert.deepEqual([both.length, both[0]?.fingerprint256], [2, old.fingerprint256])
    const next = both[1] ?? assert.fail()
    assert.ok(
      (await presentedCertificate(authority, 'api.test')).checkIssued(old),
      'running agents know only the old one',
    )

    clock.value = after(3561)
    await authority.renew()
    const late = await presentedCertificate(authority, 'other.test')
    assert.ok(late.checkIssued(next) && late.verify(next.publicKey))
    assert.equal((await authority.view()).signs_until, next.validToDate.toISOString())

    clock.value = after(3651)
    await authority.renew()
    assert.equal((await authority.view()).trusted, 1)
    assert.deepEqual(
      caOf(await authority.certificate()).map(({ fingerprint256 }) => fingerprint256),
      [next.fingerprint256],
    )
  })

  test('an authority that expired while the platform was down is replaced', async () => {
    await using database = await db()
    const clock = { value: start, now: () => clock.value }
    const deps = { db: database, clock, vault: createThrowawayVault() }
    const [old = assert.fail()] = caOf(await createAuthority(deps).certificate())
    clock.value = after(4000)
    const authority = createAuthority(deps)
    assert.equal((await authority.view()).signs_until, null)
    const all = await Promise.all(Array.from({ length: 20 }, () => createAuthority(deps).certificate()))
    assert.equal(new Set(all).size, 1)
    const [fresh = assert.fail(), ...more] = caOf(await authority.certificate())
    assert.ok(more.length === 0 && fresh.fingerprint256 !== old.fingerprint256)
    assert.ok((await presentedCertificate(authority, 'api.test')).checkIssued(fresh))
  })
})
