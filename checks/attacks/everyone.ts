/** Everybody who can make an agent run turns, each through the routes that this person or program has. */
import assert from 'node:assert/strict'
import { startFacilitator, testNetwork } from '@roost/test-support/payments/index'
import type { Loose, PlatformOptions, Reply } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
import { type Attacker, openScene, type Scene, signInByMail, succeed } from './people.ts'

/** Somebody who chats with an agent. `access` and `credentials` are what the platform promises for these turns. */
export type Person = {
  name: string
  access: 'owner' | 'write' | 'read' | 'none'
  credentials: boolean
  /** Has no account and no share: the agent's setting for strangers decides. */
  isStranger: boolean
  /** One turn of this person's conversation with the agent; returns the final text of the runtime. */
  turn(agent: string, message: string): Promise<string>
  /** Ends the share or the public link. */
  end?(agent: string): Promise<unknown>
}

export type EverybodysScene = Scene & { everyone: Person[] }

const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const sharer = 'sharer@example.com'
const reader = 'reader@example.com'
const client = 'client@example.org'

/** Agents with all ways in: shares, a public link, a price and a permission of another agent. */
export async function openEveryone(
  agents: Record<string, object>,
  options: PlatformOptions = {},
): Promise<EverybodysScene> {
  await using opened = new AsyncDisposableStack()
  const facilitator = opened.use(await startFacilitator())
  const [first = assert.fail('no agent'), ...others] = Object.keys(agents)
  const env = { ROOST_X402_FACILITATOR_URL: facilitator.url, ROOST_TRUSTED_PROXIES: '127.0.0.1' }
  const scene = opened.use(
    await openScene(first, { ...options, agent: agents[first] ?? {}, env: { ...env, ...options.env } }),
  )
  const { platform, mail } = scene
  await Promise.all(others.map((name) => createAgent(platform, name, agents[name])))
  const links = new Map<string, { id: string; token: string }>()
  for (const name of [first, ...others]) {
    const set = (method: string, path: string, body?: object) =>
      succeed(platform.request(method, `/api/agents/${name}${path}`, body))
    await set('PUT', '/capacity', { max_parallel_tasks: 10 })
    if (name !== first) await set('POST', '/share', { email: sharer })
    await set('POST', '/share', { email: reader, access: 'read' })
    await set('POST', '/share', { email: client })
    await set('PUT', '/paid', { enabled: true, price_usd: 0.25, pay_to: payTo, network: testNetwork })
    links.set(name, await set('POST', '/public-links', { name: 'site' }))
    await succeed(platform.request('POST', `/api/agents/${first}-caller/permissions/${name}`))
  }

  const readerToken = await signInByMail(platform, mail, reader)
  const portal = '/api/enterprise/client-portal'
  const open = { token: null }
  await succeed(platform.request('POST', `${portal}/auth/request`, { email: client }, open))
  const code = /\b\d{6}\b/.exec((await mail.next(client)).text)?.[0]
  const { token: clientToken } = await succeed(
    platform.request('POST', `${portal}/auth/verify`, { email: client, code }, open),
  )

  const post = async (path: string, body: object, token: string | null, headers = {}): Promise<Loose> => {
    const options = { token, headers: { accept: 'application/json', ...headers } }
    return succeed(platform.request('POST', path, body, options) as Promise<Reply>)
  }
  const endShare = (email: string) => (agent: string) =>
    succeed(platform.request('DELETE', `/api/agents/${agent}/share/${email}`))
  const account = ({ token }: Pick<Attacker, 'token'>) => ({
    isStranger: false,
    turn: async (agent: string, message: string) =>
      (await post(`/api/agents/${agent}/chat`, { message }, token)).response,
  })
  const visitor = (address: string) => {
    const sessions = new Map<string, string>()
    return {
      access: 'read' as const,
      credentials: false,
      isStranger: true,
      end: (agent: string) =>
        succeed(
          platform.request('PUT', `/api/agents/${agent}/public-links/${links.get(agent)?.id}`, {
            enabled: false,
          }),
        ),
      async turn(agent: string, message: string) {
        const session_id = sessions.get(agent)
        const body = session_id ? { message, session_id } : { message }
        const path = `/api/public/chat/${links.get(agent)?.token}`
        const reply = await post(path, body, null, { 'x-forwarded-for': address })
        sessions.set(agent, reply.session_id)
        return reply.response
      },
    }
  }
  const payer = () => {
    const wallet = facilitator.payer()
    const sessions = new Map<string, string>()
    return {
      access: 'read' as const,
      credentials: false,
      isStranger: true,
      async turn(agent: string, message: string) {
        const session_id = sessions.get(agent)
        const pay = async () => {
          const reply = await wallet.fetch(`${platform.url}/api/paid/${agent}/chat`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.3' },
            body: JSON.stringify(session_id ? { message, session_id } : { message }),
          })
          return { status: reply.status, text: await reply.text() }
        }
        let { status, text } = await pay()
        // A proof is good for a minute. The reply of a longer turn is kept until the message comes with a new one.
        if (status === 402 && JSON.parse(text).error === 'payment_failed') ({ status, text } = await pay())
        assert.equal(status, 200, text)
        const paid = JSON.parse(text)
        sessions.set(agent, paid.session_id)
        return paid.response
      },
    }
  }
  const everyone: Person[] = [
    { name: 'owner', access: 'owner', credentials: true, ...account(scene.owner) },
    { name: 'sharer', access: 'write', credentials: true, ...account(scene.sharer), end: endShare(sharer) },
    {
      name: 'reader',
      access: 'read',
      credentials: false,
      ...account({ token: readerToken }),
      end: endShare(reader),
    },
    {
      name: 'Workspace person',
      access: 'write',
      credentials: true,
      isStranger: false,
      end: endShare(client),
      turn: async (agent, message) =>
        (await post(`${portal}/agents/${agent}/chat`, { message }, clientToken)).response,
    },
    { name: 'visitor', ...visitor('198.51.100.1') },
    { name: 'other visitor', ...visitor('198.51.100.2') },
    { name: 'payer', ...payer() },
    { name: 'calling agent', access: 'write', credentials: true, ...account(scene.caller) },
  ]
  const close = opened.move()
  return { ...scene, everyone, [Symbol.asyncDispose]: () => close[Symbol.asyncDispose]() }
}
