import assert from 'node:assert/strict'
import type { GitChangeAnswer, GitEnd, GitState } from '@roost/contracts/link/git'
import { startGitServer } from '@roost/test-support/git/index'
import { LinkFault } from '../../../ports/agent-link/port.ts'
import { createTestAlerts } from '../../../test/alerts.ts'
import type { forEachDialect } from '../../../test/dialects.ts'
import { openAgents } from '../../test/world.ts'

const yaml = 'name: helper\ndisplay_name: Helper\ndescription: From git\n'
export const sha = 'a'.repeat(40)
export const inSync: GitState = {
  is_repository: true,
  branch: 'main',
  remote_url: 'https://git.example.org/acme/helper',
  has_credential: false,
  last_commit: { sha, message: 'm', author: 'a', date: '2030-01-01T00:00:00Z' },
  changes: [],
  ahead: 0,
  behind: 0,
}
const idle = { busy: false, context_used: 0, context_max: 0, last_activity_at: null }
export const done: GitEnd = { outcome: 'done', commit_sha: sha, files_changed: 1 }

export type Open = Parameters<Parameters<typeof forEachDialect>[0]>[1]
/** An agent created from a repository on a real git host; its workspace's replies are scripted. */
export async function bound(
  open: Open,
  options: { token?: string } = { token: 'tok' },
  { isBusy = () => false }: { isBusy?(): boolean } = {},
) {
  const server = await startGitServer()
  await server.commit('acme/helper', { 'template.yaml': yaml })
  await server.git('acme/helper', 'config', 'http.receivepack', 'true')
  const { alerts, raised, cleared } = createTestAlerts()
  const world = await openAgents(await open(), {
    git: { url: server.url, ...options },
    alerts,
    needs: {
      contextOf: async (ids) => new Map(ids.map((id) => [id, { ...idle, busy: isBusy() }])),
    },
  })
  const owner = await world.person()
  const made = await world.request(owner.key, 'POST', '/api/agents', {
    name: 'one',
    template: 'github:acme/helper',
  })
  assert.equal(made.status, 200, JSON.stringify(made.json))
  const agent = await world.row('one')
  const script = {
    state: inSync,
    failed: null as string | null,
    end: done,
    change: null as GitChangeAnswer | null,
  }
  world.link.link(agent.id, {
    'git.bind': () => ({ end: done, state: script.state }),
    'git.look': () => ({ state: script.state, failed: script.failed }),
    'git.sync': () => ({ end: script.end, state: script.state }),
    'git.pull': () => ({ end: script.end, state: script.state }),
    'git.initialize': ({ branches, remote_url }) => ({
      end: script.end,
      state: { ...script.state, branch: branches.working, remote_url },
    }),
    'git.reset': () => ({
      end: script.end,
      state: script.state,
      snapshot_dir: '.roost/snapshots/x',
      files_preserved: ['content/a.md'],
    }),
    'git.change': () => {
      if (script.change === null) throw new LinkFault({ code: 'unknown_message', message: 'not known' })
      return script.change
    },
    'git.log': () => ({ commits: [{ sha, message: 'm', author: 'a', date: '2030-01-01T02:00:00+02:00' }] }),
  })
  const look = async () => world.area.git.look(await world.row('one'))
  const call = (method: string, path: string, body?: object) =>
    world.request(owner.key, method, `/api/agents/one/git/${path}`, body)
  const dispose = async () => {
    await world[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  }
  return {
    world,
    agent,
    owner,
    server,
    script,
    raised,
    cleared,
    look,
    call,
    [Symbol.asyncDispose]: dispose,
  }
}
