import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { atPlatform, withOwnTransfer } from './address.ts'
import { createEgressProxy } from './proxy.ts'

const near = () => ({ host: '172.18.0.1', port: 8001, isForwarder: false })

test('platform addresses get the host of the link and keep port and path', () => {
  const link = { host: '172.30.0.1', port: 8001, isForwarder: false }
  assert.equal(atPlatform('http://172.18.0.1:8001/broker', link), 'http://172.30.0.1:8001/broker')
  assert.equal(atPlatform('http://172.30.0.1:8001/broker', link), 'http://172.30.0.1:8001/broker')
  const message = { transfer: { url: 'http://172.18.0.1:8001/git/a/b.git', ticket: 't' }, message: 'm' }
  assert.deepEqual(withOwnTransfer(message, link), {
    transfer: { url: 'http://172.30.0.1:8001/git/a/b.git', ticket: 't' },
    message: 'm',
  })
  assert.deepEqual(withOwnTransfer({ transfer: null }, link), { transfer: null })
})

test('platform addresses get host and port of the forwarder and keep the path', () => {
  const near = { host: '127.82.83.84', port: 40_123, isForwarder: true }
  assert.equal(atPlatform('http://172.18.0.1:8001/broker', near), 'http://127.82.83.84:40123/broker')
  assert.equal(atPlatform('http://127.82.83.84:8001/mcp', near), 'http://127.82.83.84:40123/mcp')
  assert.equal(atPlatform('http://127.82.83.84:40123/mcp/', near), 'http://127.82.83.84:40123/mcp/')
})

test('without egress through the platform no variable is set', async () => {
  const proxy = createEgressProxy({ folder: '/nonexistent', near })
  assert.deepEqual(await proxy.variables(null), {})
})

test('the platform’s certificate authority is trusted in addition to the system’s, if there is one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-way-out-'))
  try {
    await writeFile(join(folder, 'system.pem'), 'SYSTEM\n')
    const proxy = createEgressProxy({
      folder: join(folder, 'certificates'),
      near,
      system: join(folder, 'system.pem'),
    })
    const bare = await proxy.variables({ user: 'a', ticket: 't/1', authority: null })
    assert.equal(bare.HTTPS_PROXY, 'http://a:t%2F1@172.18.0.1:8001')
    assert.equal(bare.https_proxy, bare.HTTPS_PROXY)
    assert.match(bare.NO_PROXY ?? '', /^172\.18\.0\.1,/)
    assert.equal(bare.NODE_EXTRA_CA_CERTS, undefined)
    const full = await proxy.variables({ user: 'a', ticket: 't', authority: 'OURS\n' })
    assert.equal(await readFile(full.NODE_EXTRA_CA_CERTS ?? '', 'utf8'), 'OURS\n')
    assert.equal(await readFile(full.SSL_CERT_FILE ?? '', 'utf8'), 'SYSTEM\nOURS\n')
  } finally {
    await rm(folder, { recursive: true })
  }
})
