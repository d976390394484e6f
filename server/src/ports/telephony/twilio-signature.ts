import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../kit/same-secret.ts'

/**
 * Checks `X-Twilio-Signature`: base64 of an HMAC-SHA1 with the account's token over the address and the
 * form's fields, sorted by name. The provider signs the address with or without its port, so both are tried.
 */
export function isTwilioSignature(
  authToken: string,
  { url, body, signature }: { url: string; body: Uint8Array; signature: string },
): boolean {
  const fields = signedFields(body)
  return [withoutPort(url), withPort(url)].some((address) => {
    const expected = createHmac('sha1', authToken)
      .update(address + fields)
      .digest('base64')
    return isSameSecret(signature, expected)
  })
}

/** Values of one name follow it in order, each once. */
function signedFields(body: Uint8Array): string {
  const form = new URLSearchParams(Buffer.from(body).toString('utf8'))
  return [...new Set(form.keys())]
    .sort()
    .flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value))
    .join('')
}

/** Addresses are built by hand, because `URL` would also normalize other parts. */
const parts = /^(https?):\/\/([^/?#:]+|\[[^\]]+\])(?::(\d+))?(.*)$/i

function withPort(url: string): string {
  const [, scheme = '', host = '', port, rest = ''] = parts.exec(url) ?? []
  if (scheme === '') return url
  return `${scheme}://${host}:${port ?? (scheme.toLowerCase() === 'https' ? '443' : '80')}${rest}`
}

function withoutPort(url: string): string {
  const [, scheme = '', host = '', , rest = ''] = parts.exec(url) ?? []
  return scheme === '' ? url : `${scheme}://${host}${rest}`
}
