/** Slack with a real agent, across a kill of the platform; its system agent; backup and restore. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import {
  type SlackServer,
  slackApp,
  slackEvent,
  slackHeaders,
  startSlack,
} from '@roost/test-support/slack/index'
import { type Platform, type Reply, signIn, startPlatform } from './platform.ts'
import { answerOf, createAgent } from './steps.ts'

const name = 'slack-wren'
const main = resolve(import.meta.dirname, '../../cli/src/main.ts')
let slack: SlackServer
let platform: Platform
before(async () => {
  slack = await startSlack()
  slack.channels.set('C0001', { name: 'team', isMember: true })
  // Each platform has an agent named roost-system, but an engine has only one namespace for containers.
  const prefix = `${randomBytes(4).toString('hex')}-`
  platform = await startPlatform({ env: { ROOST_SLACK_API_URL: slack.url, ROOST_CONTAINER_PREFIX: prefix } })
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await slack?.close()
})

async function send(event: object): Promise<Reply> {
  const body = JSON.stringify(event)
  const headers = slackHeaders(body, new Date())
  return platform.request('POST', '/api/public/slack/events', body, { token: null, headers })
}

async function bind(on: Platform): Promise<void> {
  const body = { channel_id: 'C0001', is_dm_default: true }
  const bound = await on.request('PUT', `/api/agents/${name}/slack/channel`, body)
  assert.deepEqual([bound.status, bound.json.channel_name], [200, 'team'], bound.text)
}

test('a thread is a conversation; a message accepted before a kill is answered once', async () => {
  const settings = { signing_secret: slackApp.signingSecret, bot_token: slackApp.token }
  const connected = await platform.request('PUT', '/api/settings/slack', settings)
  assert.deepEqual([connected.status, connected.json.workspace_name], [200, 'Nest'], connected.text)
  assert.equal((await platform.request('GET', '/api/settings/feature-flags')).json.slack, true)
  await bind(platform)

  await send(slackEvent({ text: 'the word is heron [[reply:**noted**]]', ts: '100.1' }))
  const [first] = await slack.waitForPosts(1)
  assert.deepEqual([first?.channel, first?.thread_ts, first?.text], ['C0001', '100.1', '*noted*'])

  const event = slackEvent({ text: 'and? [[sleep:2]] [[recall:heron]]', ts: '100.2', thread_ts: '100.1' })
  const accepted = await send(event)
  assert.deepEqual([accepted.status, accepted.json], [200, { ok: true }])
  await platform.killApi()
  await platform.startApi()
  platform.token = await signIn(platform)
  assert.equal((await send(event)).status, 200)
  await slack.waitForPosts(2)
  assert.deepEqual([slack.posted[1]?.thread_ts, slack.posted[1]?.text], ['100.1', 'recall=yes'])

  await platform.request('POST', `/api/agents/${name}/stop`)
  await send(slackEvent({ text: 'psst', ts: '200.1', channel: 'D0001', channel_type: 'im' }))
  await slack.waitForPosts(3)
  assert.match(slack.posted[2]?.text ?? '', /is not running/)
  const runs = await platform.request('GET', `/api/agents/${name}/executions`)
  assert.deepEqual(
    runs.json.map((run: { triggered_by: string }) => run.triggered_by),
    ['slack', 'slack'],
  )
})

test('the system agent has its system key, works, and keeps nothing after reinitializing', async () => {
  const systemAction = (what: string) => platform.request('POST', `/api/system-agent/${what}`)
  const started = await systemAction('restart')
  assert.deepEqual([started.status, started.json.status], [200, 'running'], started.text)
  assert.match(
    await answerOf(platform, 'roost-system', '[[tool:Bash:echo here > note]] [[reply:noted]]'),
    /noted/,
  )
  const again = await systemAction('reinitialize')
  assert.deepEqual([again.status, again.json.status], [200, 'running'], again.text)
  assert.doesNotMatch(
    await answerOf(platform, 'roost-system', '[[tool:Bash:cat note || echo empty]]'),
    /here/,
  )
  // Reinitializing a stopped one leaves nothing in the engine.
  await platform.request('POST', '/api/agents/roost-system/stop')
  assert.deepEqual((await systemAction('reinitialize')).json.warnings, [])
  const { json } = await platform.request('GET', '/api/system-agent/status')
  assert.deepEqual([json.status, json.container_id], ['stopped', null])
})

test('a backup of a running platform restores to one that starts and can open its secrets', async () => {
  const [archive, to] = [join(platform.dataDir, 'saved.tar.gz'), join(platform.dataDir, 'restored')]
  await roost('backup', '--to', archive, '--data-dir', platform.dataDir)
  await roost('restore', archive, '--data-dir', to)
  const env = { ROOST_DATA_DIR: to, ROOST_CONTAINERS_URL: 'fake:', ROOST_SLACK_API_URL: slack.url }
  await using restored = await startPlatform({ env, password: false })
  restored.token = await signIn(restored)
  const agents = (await restored.request('GET', '/api/agents')).json
  assert.deepEqual(agents.map((agent: { name: string }) => agent.name).toSorted(), ['roost-system', name])
  // The channel lookup uses the sealed token.
  await bind(restored)
})

async function roost(...args: string[]): Promise<void> {
  const env = { ...process.env, ROOST_BACKUP_PASSPHRASE: 'correct horse battery' }
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((done) => child.once('close', done))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  assert.equal(code, 0, out + err)
}
