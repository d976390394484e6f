import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { clientAddress } from './client-address.ts'

const request = (from: string | undefined, forwarded: string) =>
  // Only the fields of a request that are used.
  ({
    socket: { remoteAddress: from },
    headers: { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage

test('a client cannot choose its own address', () => {
  assert.equal(clientAddress([])(request('192.0.2.7', '10.0.0.1')), '192.0.2.7')
  assert.equal(clientAddress(['10.0.0.0/8'])(request('192.0.2.7', '203.0.113.9')), '192.0.2.7')
})

test('addresses of trusted proxies are accepted up to the first untrusted hop', () => {
  const addressOf = clientAddress(['10.0.0.0/8'])
  assert.equal(addressOf(request('10.0.0.1', '198.51.100.4')), '198.51.100.4')
  assert.equal(addressOf(request('10.0.0.1', '1.2.3.4, 198.51.100.4, 10.0.0.2')), '198.51.100.4')
})

test('a unix socket has no address', () => {
  assert.equal(clientAddress([])(request(undefined, '')), '')
})
