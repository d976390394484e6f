import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskEnd, maskPiece, maskText } from './mask-secrets.ts'

/** Masks a text in pieces of `length`; returns the masked text and the held rest. */
function inPieces(text: string, length: number, secrets: string[]) {
  let held = ''
  let masked = ''
  for (let at = 0; at < text.length; at += length) {
    const next = maskPiece(held + text.slice(at, at + length), secrets)
    masked += next.masked
    held = next.held
  }
  return { masked, held }
}

test('masking in pieces of any length equals masking the whole text', () => {
  const secrets = ['svc_mcp_abcdefgh', 'abcdefgh', 'abcdefghijkl', 'pass"word\\1', 'aaaaaaaa', 'shorter']
  const texts = [
    'before svc_mcp_abcdefgh after',
    'svc_mcp_svc_mcp_abcdefgh svc_mcp_abcdefg.',
    'abcdefghijk abcdefghijkl abcdefg abcdefgh.',
    `${JSON.stringify({ key: 'pass"word\\1' })} pass"word\\1 shorter.`,
    'aaaaaaaaaaaaaaaaaaa.',
    'nothing of the kind.',
  ]
  for (const text of texts) {
    for (let length = 1; length <= text.length; length += 1) {
      const { masked, held } = inPieces(text, length, secrets)
      assert.equal(masked + maskText(held, secrets), maskText(text, secrets), `${text} by ${length}`)
      for (const secret of secrets.filter((each) => each.length >= 8)) assert.ok(!masked.includes(secret))
    }
  }
})

test('only a possible beginning of a secret is held back', () => {
  const secrets = ['svc_mcp_abcdefgh']
  assert.deepEqual(maskPiece('the key is svc_mcp', secrets), { masked: 'the key is ', held: 'svc_mcp' })
  assert.deepEqual(maskPiece('svc_mcp is a prefix', secrets), { masked: 'svc_mcp is a prefix', held: '' })
  assert.deepEqual(maskPiece('it is svc_mcp_abcdefgh', secrets), { masked: 'it is [secret]', held: '' })
  assert.deepEqual(maskPiece('plain', []), { masked: 'plain', held: '' })
})

test('overlapping secrets are not split', () => {
  const secrets = ['12345678ab', 'abcdefgh']
  assert.deepEqual(maskPiece('x 12345678ab', secrets), { masked: 'x ', held: '12345678ab' })
})

test('the end of a text shows no part of a secret, wherever it begins', () => {
  const secrets = ['svc_mcp_abcdefgh', 'abcdefgh', 'pass"word']
  const text = `svc_mcp_abcdefgh, abcdefgh and ${JSON.stringify('pass"word')}.`
  for (let at = 1; at <= text.length; at += 1) {
    const masked = maskEnd(text.slice(at), secrets)
    assert.ok(maskText(text, secrets).endsWith(masked), `${at}: ${masked}`)
  }
  assert.equal(maskEnd('fgh, and more', secrets), ', and more')
  assert.equal(maskEnd('plain', []), 'plain')
})
