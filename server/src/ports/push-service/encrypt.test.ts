import assert from 'node:assert/strict'
import { createECDH } from 'node:crypto'
import { test } from 'node:test'
import { encryptFor, isPoint } from './encrypt.ts'

/** RFC 8291, appendix A. */
const example = {
  text: 'When I grow up, I want to be a watermelon',
  sender: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  receiver: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
}

test('the example of the standard gives the bytes of the standard', () => {
  const sender = createECDH('prime256v1')
  sender.setPrivateKey(example.sender, 'base64url')
  const chosen = { sender, salt: Buffer.from(example.salt, 'base64url'), length: 0 }
  const body = encryptFor(example.receiver, example.text, chosen)
  assert.equal(body.toString('base64url'), example.body)
})

test('every message has the same length, another key and another salt', () => {
  const bodies = ['a', 'b'.repeat(2000), 'a'].map((text) => encryptFor(example.receiver, text))
  assert.equal(new Set(bodies.map(({ length }) => length)).size, 1)
  assert.ok((bodies[0]?.length ?? 0) <= 4096)
  assert.equal(new Set(bodies.map((body) => body.subarray(0, 16).toString('hex'))).size, 3)
  assert.equal(new Set(bodies.map((body) => body.subarray(21, 86).toString('hex'))).size, 3)
})

test('only uncompressed points on the curve are keys', () => {
  assert.equal(isPoint(example.receiver.p256dh), true)
  for (const key of ['', 'AAAA', `BA${'A'.repeat(85)}`, example.sender])
    assert.equal(isPoint(key), false, key)
})
