import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { providers } from '@roost/contracts/foundation/settings'
import { secret } from '../../kit/secret.ts'
import { createProviderTest, gitApiAddress } from './provider-test.ts'

async function provider(status: number) {
  const requests: { url: string; headers: string }[] = []
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: JSON.stringify(request.headers) })
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const addresses = { anthropic: url, google: url, openai: `${url}/v1`, github: url }
  const close = async () => void server.close()
  return { ask: createProviderTest({ fetch, addresses }), requests, [Symbol.asyncDispose]: close }
}

test('each provider gets the key in its own header and never in the address', async () => {
  await using it = await provider(200)
  for (const name of providers) {
    assert.deepEqual(await it.ask(name, secret(`key-of-${name}`)), {
      ok: true,
      status: 'valid',
      message: 'The key works.',
    })
    const { url, headers } = it.requests.at(-1) ?? assert.fail()
    assert.ok(headers.includes(`key-of-${name}`) && !url.includes('key-of-'), name)
  }
})

test('401 means an invalid key, 429 a rate limit, everything else an unreachable provider', async () => {
  for (const [status, expected] of [
    [400, 'invalid'],
    [401, 'invalid'],
    [403, 'invalid'],
    [429, 'rate_limited'],
    [404, 'unreachable'],
    [500, 'unreachable'],
    // The key does not follow the redirect.
    [302, 'unreachable'],
  ] as const) {
    await using it = await provider(status)
    assert.equal((await it.ask('anthropic', secret('k'))).status, expected, String(status))
    assert.equal(it.requests.length, 1)
  }
})

test('an unavailable provider is unreachable, and its result does not contain the key', async () => {
  const closed = 'http://127.0.0.1:1'
  const addresses = { anthropic: closed, google: closed, openai: closed, github: closed }
  const found = await createProviderTest({ fetch, addresses })('github', secret('canary-key'))
  assert.equal(found.status, 'unreachable')
  assert.ok(!JSON.stringify(found).includes('canary'))
})

test('the public git host has a separate API address, others a path', () => {
  assert.equal(gitApiAddress('https://github.com'), 'https://api.github.com')
  assert.equal(gitApiAddress('https://git.example.org/'), 'https://git.example.org/api/v3')
})
