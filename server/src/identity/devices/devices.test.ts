import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createVault } from '../../foundation/vault/index.ts'
import { createTestClock } from '../../test/clock.ts'
import { accountSubject, addressSubject, createDevices } from './index.ts'

const ip = '192.0.2.1'
function open(baseUrl = 'https://roost.example.com') {
  const clock = createTestClock('2030-01-01T00:00:00.000Z')
  const devices = createDevices({ vault: createVault(randomBytes(32)), clock, baseUrl })
  const cookieOf = (subject: string, cookies?: string) =>
    devices.remember(subject, { ip, cookies }).split(';', 1)[0] ?? ''
  return {
    clock,
    devices,
    cookieOf,
    deviceOf: (subject: string, cookies?: string) => devices.place(subject, { ip, cookies }).device,
  }
}
const ann = accountSubject('ann')

test('a remembered device is known to its subject only, among other cookies', () => {
  const { cookieOf, deviceOf } = open()
  const cookie = cookieOf(ann)
  const id = deviceOf(ann, `a=b; ${cookie};c=d`)
  assert.match(id ?? '', /^[\w-]+$/)
  assert.equal(deviceOf(ann), null)
  for (const other of [accountSubject('bob'), addressSubject('ann')]) {
    assert.equal(deviceOf(other, cookie), null)
    const [name] = cookieOf(other).split('=')
    assert.equal(deviceOf(other, cookie.replace(/^[^=]+/, name ?? '')), null)
  }
})

test('a known device keeps its id, and a new one gets its own', () => {
  const { cookieOf, deviceOf } = open()
  const cookie = cookieOf(ann)
  assert.equal(deviceOf(ann, cookieOf(ann, cookie)), deviceOf(ann, cookie))
  assert.notEqual(deviceOf(ann, cookieOf(ann)), deviceOf(ann, cookie))
})

test('a device is known for 180 days after its last sign-in', () => {
  const { clock, cookieOf, deviceOf } = open()
  const cookie = cookieOf(ann)
  clock.set('2030-06-29T23:59:59.000Z')
  assert.notEqual(deviceOf(ann, cookie), null)
  const renewed = cookieOf(ann, cookie)
  clock.set('2030-06-30T00:00:00.000Z')
  assert.equal(deviceOf(ann, cookie), null)
  assert.notEqual(deviceOf(ann, renewed), null)
})

test('an altered cookie, or one of another installation, is ignored', () => {
  const { cookieOf, deviceOf } = open()
  const cookie = cookieOf(ann)
  const [name, value = ''] = cookie.split('=')
  const [id, expires, signature] = value.split('.')
  for (const forged of [
    '',
    '..',
    `${id}.${expires}`,
    `${id}.${Number(expires) + 1}.${signature}`,
    `x${id}.${expires}.${signature}`,
    `${id}.${expires}.${signature}x`,
    `${value}.`,
    open().cookieOf(ann).split('=')[1],
  ])
    assert.equal(deviceOf(ann, `${name}=${forged}`), null, forged)
})

test('the cookie is for the API alone, closed to scripts and other sites, and for TLS if the platform uses it', () => {
  const { devices } = open()
  const rest = (line: string) => line.split('; ').slice(1)
  const origin = { ip }
  assert.deepEqual(rest(devices.remember(ann, origin)), [
    'Path=/api',
    'Max-Age=15552000',
    'HttpOnly',
    'SameSite=Strict',
    'Secure',
  ])
  assert.ok(!rest(open('http://localhost:8000').devices.remember(ann, origin)).includes('Secure'))
})
