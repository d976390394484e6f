/** Users besides the admin, who sign in with the allow list and an e-mail code. */
import assert from 'node:assert/strict'
import type { MailServer } from '@roost/test-support/mail/index'
import type { Platform } from '../acceptance/platform.ts'

/** Adds the address to the allow list, signs in, and returns the session's token. */
export async function signInUser(
  { platform, mail }: { platform: Platform; mail: MailServer },
  email: string,
  role = 'user',
): Promise<string> {
  const entry = { email, default_role: role }
  const listed = await platform.request('POST', '/api/settings/email-whitelist', entry)
  assert.ok(listed.status === 201 || listed.json.error === 'already_exists', listed.text)
  const anonymous = { token: null }
  await platform.request('POST', '/api/auth/email/request', { email }, anonymous)
  const { text } = await mail.next(email)
  const code = /\b\d{6}\b/.exec(text)?.[0] ?? assert.fail(`no code in: ${text}`)
  const reply = await platform.request('POST', '/api/auth/email/verify', { email, code }, anonymous)
  assert.equal(reply.status, 200, reply.text)
  return reply.json.access_token
}
