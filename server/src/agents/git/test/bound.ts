import assert from 'node:assert/strict'
import type { GitChangeAnswer, GitEnd, GitState } from '@roost/contracts/link/git'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { startGitServer } from '@roost/test-support/git/index'
import { LinkFault } from '../../../ports/agent-link/port.ts'
import type { forEachDialect } from '../../../test/dialects.ts'
import { openAgents } from '../../test/world.ts'

const yaml = 'name: helper\ndisplay_name: Helper\ndescription: From git\n'
export const sha = 'a'.repeat(40)
export const inStep: GitState = {
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
/** An agent that was made from a repository of a real host; what its workspace says is pretended. */
export async function bound(
  open: Open,
  options: { token?: string } = { token: 'tok' },
  { isBusy = () => false }: { isBusy?(): boolean } = {},
) {
  const server = await startGitServer()
  await server.commit('acme/helper', { 'template.yaml': yaml })
  await server.git('acme/helper', 'config', 'http.receivepack', 'true')
  const alerts: PlatformAlert[] = []
  const cleared: string[] = []
  const world = await openAgents(await open(), {
    git: { url: server.url, ...options },
    needs: {
      contextOf: async (ids) => new Map(ids.map((id) => [id, { ...idle, busy: isBusy() }])),
      raiseAlert: async (_tx, alert) => void alerts.push(alert),
      clearAlert: async (_tx, _id, kind) => void cleared.push(kind),
    },
  })
  const owner = await world.person()
  const made = await world.request(owner.key, 'POST', '/api/agents', {
    name: 'one',
    template: 'github:acme/helper',
  })
  assert.equal(made.status, 200, JSON.stringify(made.json))
  const agent = await world.row('one')
  const said = {
    state: inStep,
    failed: null as string | null,
    end: done,
    change: null as GitChangeAnswer | null,
  }
  world.link.link(agent.id, {
    'git.bind': () => ({ end: done, state: said.state }),
    'git.look': () => ({ state: said.state, failed: said.failed }),
    'git.sync': () => ({ end: said.end, state: said.state }),
    'git.pull': () => ({ end: said.end, state: said.state }),
    'git.initialize': ({ branches, remote_url }) => ({
      end: said.end,
      state: { ...said.state, branch: branches.working, remote_url },
    }),
    'git.reset': () => ({
      end: said.end,
      state: said.state,
      snapshot_dir: '.roost/snapshots/x',
      files_preserved: ['content/a.md'],
    }),
    'git.change': () => {
      if (said.change === null) throw new LinkFault({ code: 'unknown_message', message: 'not known' })
      return said.change
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
  return { world, agent, owner, server, said, alerts, cleared, look, call, [Symbol.asyncDispose]: dispose }
}
