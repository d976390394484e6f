/** Fills a platform of release 0.1.0 as people use it: rows of every kind, in every state that a test can reach. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Loose } from '../acceptance/platform.ts'
import { eventually } from './answers.ts'

export const passwords = { admin: 'correct horse battery' }
/** The file that lets the run in flight go on, in the workspace of its agent. */
export const gateFile = 'go-on'
export const inFlight = `[[lines:3]][[tool:Bash:until test -e ${gateFile}; do sleep 0.1; done; echo finished late]]`
export const secrets = { credential: 'credential-77ab10', subscription: 'sk-ant-api03-upgrade-fixture' }

export type Driven = {
  tokens: Record<string, string>
  agents: string[]
  /** Paths that no list leads to. */
  known: string[]
  keys: Record<string, string>
  webhook: string
  publicLink: string
  inFlight: string
  queued: string
}

type Driving = {
  url: string
  mailFolder: string
  gitUrl: string
  /** Starts the agent program of an agent that exists, and returns its key. */
  startAgent(name: string): Promise<string>
  /** Starts the scheduler. */
  startScheduler(): Promise<void>
}

export async function drive({
  url,
  mailFolder,
  gitUrl,
  startAgent,
  startScheduler,
}: Driving): Promise<Driven> {
  const tokens: Record<string, string> = {}
  const ask = async (who: string | null, method: string, path: string, body?: unknown): Promise<Loose> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(who === null ? {} : { authorization: `Bearer ${tokens[who] ?? who}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        accept: 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${text}`)
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }
  const post = (path: string, body?: unknown, who = 'admin') => ask(who, 'POST', path, body)
  const put = (path: string, body?: unknown, who = 'admin') => ask(who, 'PUT', path, body)
  const get = (path: string, who = 'admin') => ask(who, 'GET', path)
  const execution = (agent: string, id: string) => get(`/api/agents/${agent}/executions/${id}`)
  const until = (agent: string, id: string, accept: (row: Loose) => boolean) =>
    eventually(() => execution(agent, id), accept)
  const isOver = (row: Loose) => !['queued', 'running'].includes(row.status)
  const begin = async (agent: string, message: string, over: object = {}, who = 'admin') => {
    const { execution_id: id } = await post(
      `/api/agents/${agent}/task`,
      { message, async_mode: true, ...over },
      who,
    )
    return String(id)
  }

  await ask(null, 'POST', '/api/setup/admin-password', { password: passwords.admin })
  const form = new URLSearchParams({ username: 'admin', password: passwords.admin })
  const signedIn: Loose = await (await fetch(`${url}/api/token`, { method: 'POST', body: form })).json()
  tokens.admin = signedIn.access_token

  const codeFor = openMail(mailFolder, (path, body) => ask(null, 'POST', path, body))
  for (const [name, role] of Object.entries({ ann: 'creator', bob: 'user' })) {
    const email = `${name}@example.org`
    await post('/api/settings/email-whitelist', { email, default_role: role })
    const code = await codeFor(email, '/api/auth/email/request')
    tokens[name] = (await ask(null, 'POST', '/api/auth/email/verify', { email, code })).access_token
  }
  await put('/api/users/me/preferences/theme', { value: 'dark' }, 'ann').catch(() => {})

  const agents = ['alpha', 'beta', 'gamma']
  await post('/api/agents', { name: 'alpha' })
  await post('/api/agents', { name: 'beta' }, 'ann')
  await post('/api/agents', { name: 'gamma' })
  const alphaKey = await startAgent('alpha')
  await startAgent('beta')
  await startScheduler()
  for (const agent of ['alpha', 'beta'])
    await eventually(() => get(`/api/agents/${agent}/info`).catch(() => null), Boolean)

  await put('/api/agents/alpha/label', { label: 'First agent' })
  await put('/api/agents/alpha/tags', { tags: ['fixture', 'research'] })
  await put('/api/agents/alpha/permissions', { permitted_agents: ['gamma'] })
  await post('/api/agents/alpha/share', { email: 'bob@example.org' })
  await post('/api/agents/beta/share', { email: 'bob@example.org' }, 'ann')
  await put('/api/agents/gamma/folders', { expose_enabled: true, consume_enabled: false })
  await put('/api/agents/alpha/spend-cap', { daily_usd: 20, per_run_usd: 2 })
  await post('/api/agents/alpha/credentials/inject', {
    files: { '.env': `CRM_TOKEN=${secrets.credential}\n` },
  })
  await post('/api/agents/alpha/credentials/export')
  await post('/api/subscriptions', { name: 'team', provider: 'anthropic', token: secrets.subscription })
  await put('/api/users/me/github-pat', { pat: 'ghp_upgradeFixture0123456789abcdefABCDEF' }).catch(() => {})

  const source = { name: 'lib', url: `${gitUrl}/acme/lib.git`, ref: 'v1', ref_type: 'tag' }
  const { id: sourceId } = await post('/api/skills/sources', source)
  await post(`/api/skills/sources/${sourceId}/sync`)
  await post('/api/agents/alpha/skills/greet')

  const keys: Record<string, string> = {}
  keys.user = (await post('/api/mcp/keys', { name: 'user key' })).key
  keys.ops = (await post('/api/mcp/keys', { name: 'ops key', scope: 'ops' })).key
  keys.ann = (await post('/api/mcp/keys', { name: 'of ann' }, 'ann')).key
  const revoked = await post('/api/mcp/keys', { name: 'revoked key' })
  await post(`/api/mcp/keys/${revoked.id}/revoke`)
  keys.revoked = revoked.key

  // Runs in every final state.
  await post('/api/agents/alpha/chat', { message: 'remember mango [[reply:noted]]' })
  await post('/api/agents/alpha/chat', { message: '[[recall:mango]]' })
  await post('/api/agents/alpha/chat', { message: 'hello from bob' }, 'bob')
  const { id: sessionId } = await post('/api/agents/beta/sessions', { title: 'Plans' }, 'ann')
  await post(
    `/api/agents/beta/sessions/${sessionId}/message`,
    { message: '[[lines:4]][[reply:planned]]' },
    'ann',
  )
  await until('alpha', await begin('alpha', '[[tool:Bash:echo from a tool]]'), isOver)
  await until('alpha', await begin('alpha', '[[fail:500]]'), isOver)
  await until('alpha', await begin('alpha', '[[exit:3]]'), isOver)
  const cancelled = await begin('beta', '[[lines:2]][[hang]]', {}, 'ann')
  await until('beta', cancelled, ({ status }) => status === 'running')
  await post(`/api/agents/beta/executions/${cancelled}/terminate`, undefined, 'ann')
  await until('beta', cancelled, isOver)

  // Everything that starts runs.
  const schedule = { name: 'often', cron_expression: '* * * * *', message: '[[reply:fired]]' }
  const often = await post('/api/agents/alpha/schedules', schedule)
  await post('/api/agents/gamma/schedules', { ...schedule, name: 'yearly', cron_expression: '0 3 1 1 *' })
  const fanOut = await post('/api/agents/alpha/fan-out', {
    tasks: [{ message: '[[reply:one]]' }, { message: '[[fail:400]]' }, { message: '[[reply:three]]' }],
  })
  const loop = await post('/api/agents/beta/loops', { message: '[[reply:again]]', max_runs: 2 }, 'ann')
  await eventually(
    () => get(`/api/loops/${loop.id ?? loop.loop_id}`, 'ann'),
    ({ status }) => !['running', 'queued', 'pending'].includes(status),
  )
  const { webhook_url: hook } = await post(`/api/agents/alpha/schedules/${often.id}/webhook`)
  const webhook = new URL(hook).pathname
  await ask(null, 'POST', webhook, { context: 'all is well' })
  await post(
    '/api/agents/beta/event-subscriptions',
    { event_type: 'order.paid', target_message: 'paid' },
    'ann',
  )
  await post('/api/agents/alpha/reminders', { message: 'later', delay_seconds: 86_400 })
  await eventually(
    () => get(`/api/agents/alpha/schedules/${often.id}/fires`),
    (fires) => JSON.stringify(fires).includes('execution'),
  )
  await post(`/api/agents/alpha/schedules/${often.id}/disable`)

  // The Workspace and people outside.
  const portal = '/api/enterprise/client-portal'
  const code = await codeFor('bob@example.org', `${portal}/auth/request`)
  tokens.portal = (await ask(null, 'POST', `${portal}/auth/verify`, { email: 'bob@example.org', code })).token
  await post(`${portal}/agents/beta/chat`, { message: 'in the workspace [[reply:welcome]]' }, 'portal')
  await post(`${portal}/agents/beta/sessions`, { title: 'Second thread' }, 'portal')
  const link = await post('/api/agents/alpha/public-links', { name: 'Site' })
  const publicLink = link.token ?? new URL(link.url).pathname.split('/').at(-1)
  await ask(null, 'POST', `/api/public/chat/${publicLink}`, { message: 'hello [[reply:hi stranger]]' })

  // What agents leave for people.
  await put(
    '/api/agents/alpha/canvas/plan',
    {
      title: 'Plan',
      blocks: [{ kind: 'markdown', payload: { markdown: 'First' } }],
    },
    alphaKey,
  )
  await post(
    '/api/agents/alpha/operator-queue',
    { request_id: 'q1', title: 'Approve?', type: 'approval', options: ['yes', 'no'] },
    alphaKey,
  )
  const question = { request_id: 'q2', title: 'Which?', type: 'question', question: 'Red or blue?' }
  await post('/api/agents/alpha/operator-queue', question, alphaKey)
  const { items, requests } = await get('/api/operator-queue').then((all) =>
    Array.isArray(all) ? { items: all } : all,
  )
  const second = (items ?? requests).find(({ title }: Loose) => title === 'Which?')
  await post(`/api/operator-queue/${second.id}/respond`, { response: 'red' })
  await post(
    '/api/notifications',
    { notification_type: 'info', title: 'Done', agent_name: 'alpha' },
    alphaKey,
  )
  const report = { report_type: 'daily', title: 'Daily', payload: { orders: 3 } }
  await post('/api/agents/alpha/reports', report, alphaKey)
  await post('/api/agents/alpha/evaluations', { score: 80, notes: 'good' })

  // In flight: one run that its agent works on, one that nobody can take.
  const running = await begin('alpha', inFlight)
  await eventually(
    () => get(`/api/agents/alpha/executions/${running}/log`),
    (log) => JSON.stringify(log).includes('line 3'),
  )
  const queued = await begin('gamma', '[[reply:after the upgrade]]')
  await eventually(
    () => Promise.all(agents.map((agent) => get(`/api/agents/${agent}/executions`))),
    (all) => all.flat().filter((row: Loose) => !isOver(row)).length === 2,
  )
  return {
    tokens,
    agents,
    known: [`/api/agents/alpha/fan-out/${fanOut.fan_out_id ?? fanOut.id}`, `/api/public/link/${publicLink}`],
    keys,
    webhook,
    publicLink,
    inFlight: running,
    queued,
  }
}

/** Returns a function that requests a code by mail at a path and reads it from the folder of sent mail. */
export function openMail(folder: string, post: (path: string, body: object) => Promise<unknown>) {
  const seen = new Set<string>()
  return async (email: string, path: string): Promise<string> => {
    await post(path, { email })
    const mail = await eventually(async () => {
      for (const name of await readdir(folder).catch(() => [])) {
        // A name with a dot: the mail is being written, and gets another name.
        const text = seen.has(name) || name.startsWith('.') ? '' : await readFile(join(folder, name), 'utf8')
        if (text.includes(email)) return { name, text }
      }
      return null
    }, Boolean)
    seen.add(mail?.name ?? '')
    const body =
      mail?.text
        .split(/\r?\n\r?\n/)
        .slice(1)
        .join('\n') ?? ''
    return /\b(\d{6})\b/.exec(body)?.[1] ?? assert.fail('no code')
  }
}
