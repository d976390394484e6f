/** The people and programs that the attacks come from, on one platform with one attacked agent. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
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

/** `agent` is how the attacked agent is created. */
export type SceneOptions = PlatformOptions & { agent?: object }

export async function openScene(agent: string, options: SceneOptions = {}): Promise<Scene> {
  const mail = await startMail()
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
    await Promise.all([createAgent(platform, agent, options.agent), createAgent(platform, callerName)])
    await succeed(platform.request('POST', `/api/agents/${callerName}/permissions/${agent}`))
    const email = 'sharer@example.com'
    await succeed(platform.request('POST', `/api/agents/${agent}/share`, { email }))
    const keyOf = platform.env.ROOST_CONTAINERS_URL === 'sandbox:' ? keyInSandbox : agentKeyOf
    return {
      platform,
      mail,
      agent,
      owner: { name: 'owner', token: platform.token },
      sharer: { name: 'sharer', token: await signInByMail(platform, mail, email) },
      caller: { name: 'calling agent', token: await keyOf(callerName, platform) },
      self: { name: 'the agent itself', token: await keyOf(agent, platform) },
      call: ({ token }, method, path, body) =>
        platform.request(method, `/api/agents/${agent}${path}`, body, { token }),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

export const startMail = () =>
  startMailServer({ account: { user: 'roost@example.com', password: 'p@ss word' } })

/** A sandbox is entered by nobody, but root reads the environment of its program. */
async function keyInSandbox(agent: string, { internalPort }: Platform): Promise<string> {
  const ids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))
  for (const id of ids) {
    const variables = (await readFile(`/proc/${id}/environ`, 'utf8').catch(() => '')).split('\0')
    const isIts = variables.includes(`AGENT_NAME=${agent}`) && variables.join().includes(`:${internalPort}/`)
    const key = variables.find((each) => each.startsWith('ROOST_AGENT_KEY='))
    if (isIts && key) return key.slice('ROOST_AGENT_KEY='.length)
  }
  return assert.fail(`no program of ${agent}`)
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
