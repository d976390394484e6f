import assert from 'node:assert/strict'
import { copyFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseConfig } from '../config.ts'
import type { Certificate } from '../http/listen-secure.ts'
import { createTestCertificates } from '../test/certificates.ts'
import { createTestClock } from '../test/clock.ts'
import { readCertificate, watchCertificate } from './tls.ts'

const certificate = createTestCertificates()
const first = certificate('first')
const now = new Date()
const read =
  (certFile: string, keyFile: string, at = now) =>
  () =>
    readCertificate({ certFile, keyFile }, at)

test('a certificate and its key are read', () => {
  assert.deepEqual(read(first.certFile, first.keyFile)(), { cert: first.cert, key: first.key })
})

test('files that cannot serve are refused with the name of their variable', () => {
  const other = certificate('other')
  const protectedKey = `${first.keyFile}.protected`
  writeFileSync(
    protectedKey,
    '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n',
  )
  const muchLater = new Date(now.getTime() + 400 * 86_400_000)
  const { certFile, keyFile } = first
  for (const [refused, message] of [
    [
      read('/missing.pem', keyFile),
      /ROOST_TLS_CERT names a file that cannot be read: \/missing\.pem \(ENOENT\)/,
    ],
    [
      read(certFile, '/missing.key'),
      /ROOST_TLS_KEY names a file that cannot be read: \/missing\.key \(ENOENT\)/,
    ],
    [read(keyFile, keyFile), /ROOST_TLS_CERT names no certificate in PEM format/],
    [read(certFile, certFile), /ROOST_TLS_KEY names no private key in PEM format without a passphrase/],
    [read(certFile, protectedKey), /ROOST_TLS_KEY names no private key in PEM format without a passphrase/],
    [read(certFile, other.keyFile), /ROOST_TLS_KEY names a key that does not belong to the certificate/],
    [read(certFile, keyFile, muchLater), /ROOST_TLS_CERT names a certificate that expired on 20/],
  ] as const)
    assert.throws(refused, { name: 'ConfigError', message })
})

test('the configuration refuses one file without the other, and an http address', () => {
  const both = { ROOST_TLS_CERT: '/a', ROOST_TLS_KEY: '/b' }
  assert.throws(() => parseConfig({ ROOST_TLS_CERT: '/a' }), /ROOST_TLS_KEY is missing/)
  assert.throws(() => parseConfig({ ROOST_TLS_KEY: '/a' }), /ROOST_TLS_CERT is missing/)
  assert.throws(
    () => parseConfig({ ...both, ROOST_BASE_URL: 'http://roost.example' }),
    /ROOST_BASE_URL must start with https/,
  )
  assert.equal(parseConfig({ ...both, ROOST_PORT: '8443' }).baseUrl, 'https://localhost:8443')
})

test('SIGHUP and a change of the files load them again; broken files keep the previous certificate', async () => {
  const next = certificate('next')
  const files = { certFile: `${first.certFile}.live`, keyFile: `${first.keyFile}.live` }
  const put = ({ certFile, keyFile }: typeof files) => {
    copyFileSync(certFile, files.certFile)
    copyFileSync(keyFile, files.keyFile)
  }
  put(first)
  const used: Certificate[] = []
  const warnings: object[] = []
  let changed = Promise.withResolvers<void>()
  const stop = watchCertificate(
    files,
    (certificate) => {
      used.push(certificate)
      changed.resolve()
    },
    {
      clock: createTestClock(now.toISOString()),
      log: { info() {}, warn: (fields) => void warnings.push(fields) },
      everyMs: 20,
    },
  )
  // The watch does not keep the process alive.
  const alive = setInterval(() => {}, 1000)
  try {
    process.emit('SIGHUP', 'SIGHUP')
    assert.equal(used.at(-1)?.cert, first.cert)
    changed = Promise.withResolvers()
    put(next)
    while (used.at(-1)?.key !== next.key) {
      await changed.promise
      changed = Promise.withResolvers()
    }
    const count = used.length
    writeFileSync(files.certFile, 'half a certi')
    process.emit('SIGHUP', 'SIGHUP')
    assert.equal(used.length, count)
    assert.ok(warnings.length > 0)
  } finally {
    stop()
    clearInterval(alive)
  }
  assert.equal(process.listenerCount('SIGHUP'), 0)
})
