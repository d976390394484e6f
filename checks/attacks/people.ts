/** The people and programs that the attacks come from, on one platform with one attacked agent. */
import assert from 'node:assert/strict'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import {
  type Loose,
  type Platform,
  type PlatformOptions,
  type Reply,
  startPlatform,
} from '../acceptance/platform.ts'
import { agentKeyOf, createAgent } from '../acceptance/steps.ts'

/** Who attacks. `token` is the credential of its requests. */
export type Attacker = { name: string; token: string }

export type Scene = {
  platform: Platform
  mail: MailServer
  /** The attacked agent; the administrator owns it. */
  agent: string
  owner: Attacker
  /** An account that the agent is shared with. */
  sharer: Attacker
  /** An agent that may call the attacked one. */
  caller: Attacker
  /** The attacked agent's own key. */
  self: Attacker
  /** A request below `/api/agents/{agent}`. */
  call(attacker: Attacker, method: string, path: string, body?: unknown): Promise<Reply>
  [Symbol.asyncDispose](): Promise<void>
}

export async function openScene(agent: string, options: PlatformOptions = {}): Promise<Scene> {
  const mail = await startMailServer({ account: { user: 'roost@example.com', password: 'p@ss word' } })
  const platform = await startPlatform({
    ...options,
    env: { ROOST_MAIL_URL: mail.url, ...options.env },
  }).catch(async (error: unknown) => {
    await mail.close()
    throw error
  })
  const close = async () => {
    await platform[Symbol.asyncDispose]()
    await mail.close()
  }
  try {
    const callerName = `${agent}-caller`
    await Promise.all([createAgent(platform, agent), createAgent(platform, callerName)])
    await succeed(platform.request('POST', `/api/agents/${callerName}/permissions/${agent}`))
    const email = 'sharer@example.com'
    await succeed(platform.request('POST', `/api/agents/${agent}/share`, { email }))
    return {
      platform,
      mail,
      agent,
      owner: { name: 'owner', token: platform.token },
      sharer: { name: 'sharer', token: await signInByMail(platform, mail, email) },
      caller: { name: 'calling agent', token: await agentKeyOf(callerName) },
      self: { name: 'the agent itself', token: await agentKeyOf(agent) },
      call: ({ token }, method, path, body) =>
        platform.request(method, `/api/agents/${agent}${path}`, body, { token }),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

export async function signInByMail(platform: Platform, mail: MailServer, email: string): Promise<string> {
  const open = { token: null }
  await succeed(platform.request('POST', '/api/auth/email/request', { email }, open))
  const { text } = await mail.next(email)
  const code = /\b\d{6}\b/.exec(text)?.[0] ?? assert.fail(text)
  return (await succeed(platform.request('POST', '/api/auth/email/verify', { email, code }, open)))
    .access_token
}

/** The body of a response, which must be a success. */
export async function succeed(reply: Promise<Reply>): Promise<Loose> {
  const { status, text, json } = await reply
  assert.ok(status >= 200 && status < 300, `${status}: ${text}`)
  return json
}
