import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../kit/same-secret.ts'

/**
 * Whether `X-Twilio-Signature` is the provider's: base64 of the HMAC-SHA1, under the account's token, of the address
 * and of every field of the form in the order of their names. The provider signs the address with or without its
 * port, whichever way it wrote it down, so both are looked at.
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

/** Values of one name stand behind it in their order, each once. */
function signedFields(body: Uint8Array): string {
  const form = new URLSearchParams(Buffer.from(body).toString('utf8'))
  return [...new Set(form.keys())]
    .sort()
    .flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value))
    .join('')
}

/** Addresses are built by hand: `URL` would write other things than the port anew. */
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
