import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  signatureOf,
  startTelephoneProvider,
  type TelephoneProvider,
} from '@roost/test-support/telephony/index'
import { secret } from '../../kit/secret.ts'
import { TelephonyDown } from './port.ts'
import { createTwilio } from './twilio.ts'

let provider: TelephoneProvider
before(async () => {
  provider = await startTelephoneProvider()
})
after(() => provider.close())

const twilio = () => createTwilio({ baseUrl: provider.url, fetch })
const account = (token = provider.account.token) => ({
  accountSid: provider.account.sid,
  authToken: secret(token),
})
const callRequest = {
  to: '+15550123',
  from: '+15550100',
  mediaUrl: 'ws://127.0.0.1/api/public/voip/media/c1',
  ticket: 'a&b"<',
  statusUrl: 'http://127.0.0.1/api/public/voip/status/c1',
  ringSeconds: 60,
  maxSeconds: 1800,
}

test('an account is good with its own or a verified number, and only with its token', async () => {
  assert.equal(await twilio().check(account(), provider.account.number), 'good')
  assert.equal(await twilio().check(account(), provider.account.callerId), 'good')
  assert.equal(await twilio().check(account(), '+15559999'), 'foreign_number')
  assert.equal(await twilio().check(account('another-token'), provider.account.number), 'bad_credentials')
})

test('a call is placed with its media address, ended once, and ended again without an error', async () => {
  const placed = await twilio().place(account(), callRequest)
  assert.ok(placed.ok)
  const call = await provider.nextCall()
  assert.deepEqual(
    [call.sid, call.to, call.from, call.mediaUrl, call.statusUrl, call.ringSeconds, call.maxSeconds],
    [
      placed.providerCallId,
      ...[callRequest.to, callRequest.from, callRequest.mediaUrl, callRequest.statusUrl],
      60,
      1800,
    ],
  )
  assert.equal(call.ticket, 'a&b&quot;&lt;')
  for (let time = 0; time < 2; time += 1) await twilio().hangUp(account(), placed.providerCallId)
  await call.hungUp
})

test("a refusal has the provider's message; an unreachable provider is TelephonyDown", async () => {
  provider.refuseNext('The number is not one that can be called.')
  assert.deepEqual(await twilio().place(account(), callRequest), {
    ok: false,
    refused: 'The number is not one that can be called.',
  })
  const away = createTwilio({ baseUrl: 'http://127.0.0.1:1', fetch })
  await assert.rejects(away.place(account(), callRequest), TelephonyDown)
  const page = createTwilio({
    baseUrl: provider.url,
    fetch: async () => new Response('<html>', { status: 503 }),
  })
  await assert.rejects(page.check(account(), '+15550100'), TelephonyDown)
})

test('signatures match the provider’s own library, with and without the port', () => {
  const params = { CallSid: 'CA1', CallStatus: 'busy', To: '+15550123', Caller: 'Ann & Bob' }
  const body = Buffer.from(new URLSearchParams(params).toString())
  const isSigned = (url: string, signedUrl: string, token = 'token') =>
    twilio().isSigned(secret('token'), {
      url,
      body,
      signature: signatureOf(token, signedUrl, params),
    })
  const url = 'https://roost.example/api/public/voip/status/c1'
  const ported = url.replace('.example', '.example:443')
  assert.ok(isSigned(url, url))
  assert.ok(isSigned(url, ported))
  assert.ok(isSigned(ported, url))
  assert.ok(!isSigned(url, url, 'another'))
  assert.ok(!isSigned(url, `${url}2`))
  assert.ok(!twilio().isSigned(secret('token'), { url, body, signature: '' }))
  const altered = Buffer.from(body.toString().replace('busy', 'completed'))
  const signature = signatureOf('token', url, params)
  assert.ok(!twilio().isSigned(secret('token'), { url, body: altered, signature }))
})

test('the example of the provider’s documentation is valid', () => {
  const params = {
    CallSid: 'CA1234567890ABCDE',
    Caller: '+14158675309',
    Digits: '1234',
    From: '+14158675309',
    To: '+18005551212',
  }
  assert.ok(
    twilio().isSigned(secret('12345'), {
      url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
      body: Buffer.from(new URLSearchParams(params).toString()),
      signature: 'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
    }),
  )
})

test('frames of the media stream are parsed, and invalid ones throw', () => {
  const { readFrame } = twilio()
  const start = {
    streamSid: 'MZ1',
    callSid: 'CA1',
    customParameters: { ticket: 't' },
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
  }
  const read = (message: object) => readFrame(JSON.stringify(message))
  assert.deepEqual(read({ event: 'start', start }), {
    type: 'start',
    streamId: 'MZ1',
    providerCallId: 'CA1',
    ticket: 't',
  })
  assert.deepEqual(read({ event: 'media', media: { payload: '//8=' } }), {
    type: 'audio',
    mulaw: Buffer.from([0xff, 0xff]),
  })
  assert.deepEqual(read({ event: 'stop' }), { type: 'stop' })
  assert.deepEqual(read({ event: 'mark', mark: { name: 'm' } }), { type: 'mark', name: 'm' })
  assert.equal(read({ event: 'connected' }), null)
  for (const text of ['', '[]', '{"event":"media"}', '{"event":"start","start":{}}']) {
    assert.throws(() => readFrame(text))
  }
})
