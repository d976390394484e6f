import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  innerAnswers,
  innerHosts,
  startRebinding,
  startRedirecting,
  startTrap,
} from '@roost/test-support/inward'
import { createGit } from './binary.ts'

const branch = { kind: 'branch', name: 'main' } as const

/** Git with a trap for inner connections; `ask` makes every kind of request to a host. */
async function setUp() {
  const trap = await startTrap()
  const trap6 = await startTrap('::1')
  const folder = await mkdtemp(join(tmpdir(), 'roost-git-inward-'))
  const open = (over: Partial<Parameters<typeof createGit>[0]> = {}) =>
    createGit({
      ...{ baseUrl: 'https://git.example.org', mayBeInner: false, folder, path: process.env.PATH ?? '' },
      lookup: async () => ['127.0.0.1'],
      ...over,
    })
  async function ask(git: ReturnType<typeof createGit>, address: string): Promise<string[]> {
    const call = { timeoutSeconds: 5, token: 'tok' }
    const both = await Promise.all([git.fetch(address, branch, call), git.defaultBranch(address, call)])
    return both.map((outcome) => (outcome.ok ? 'ok' : outcome.fault))
  }
  return {
    open,
    ask,
    port: trap.port,
    connections: () => trap.connections() + trap6.connections(),
    /** The port that listens for this host, if any. */
    at: (host: string) => `${host}:${host.startsWith('[') ? trap6.port : trap.port}`,
    async [Symbol.asyncDispose]() {
      trap[Symbol.dispose]()
      trap6[Symbol.dispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
const refused = ['address_refused', 'address_refused']

test('an address of this machine or its network is refused in every spelling', async () => {
  await using t = await setUp()
  const git = t.open()
  for (const host of innerHosts) {
    for (const address of [`https://${t.at(host)}/a/b`, `http://${t.at(host)}/a/b`, `https://${host}/a/b`])
      assert.deepEqual(await t.ask(git, address), refused, address)
    for (const trick of [
      `git.example.org@${t.at(host)}`,
      `git.example.org%2f@${host}`,
      `${host}#.git.example.org`,
    ])
      assert.deepEqual(await t.ask(git, `https://${trick}/a/b`), refused, trick)
  }
  assert.equal(t.connections(), 0)
})

test('an inner git host is refused unless the configuration allows it', async () => {
  await using t = await setUp()
  for (const host of innerHosts) {
    const baseUrl = `http://${t.at(host)}`
    if (!URL.canParse(baseUrl)) continue
    const spelt = new URL(baseUrl).origin
    assert.deepEqual(await t.ask(t.open({ baseUrl: spelt }), `${spelt}/a/b`), refused, host)
  }
  assert.equal(t.connections(), 0)
})

test('a name that resolves to an inner address, alone or among others, is refused', async () => {
  await using t = await setUp()
  const baseUrl = `http://git.example.org:${t.port}`
  for (const answer of innerAnswers) {
    const git = t.open({ baseUrl, lookup: async () => answer })
    assert.deepEqual(await t.ask(git, `${baseUrl}/a/b`), refused, answer.join())
  }
  assert.equal(t.connections(), 0)
})

test('a name is not resolved a second time', async () => {
  await using t = await setUp()
  for (const ask of ['fetch', 'defaultBranch'] as const) {
    using host = await startRebinding()
    const git = t.open({ baseUrl: host.url, mayBeInner: true, lookup: host.lookup })
    const got = await (ask === 'fetch'
      ? git.fetch(`${host.url}/a/b`, branch)
      : git.defaultBranch(`${host.url}/a/b`))
    assert.equal(got.ok ? 'ok' : got.fault, 'unreachable')
    assert.deepEqual(host.seen(), { questions: 1, reached: true, trapped: 0 })
  }
})

test('a redirect to an inner address is not followed', async () => {
  await using t = await setUp()
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f.1']) {
    using outside = await startRedirecting(`http://${t.at(host)}`)
    const baseUrl = `http://git.example.org:${outside.port}`
    const git = t.open({ baseUrl, mayBeInner: true })
    assert.deepEqual(await t.ask(git, `${baseUrl}/a/b`), ['unreachable', 'unreachable'], host)
    assert.ok(outside.requests.length > 0)
  }
  assert.equal(t.connections(), 0)
})
