/** Attempts of one agent in real containers, and what is left of them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { containerNames, docker, dockerOnly } from './engine.ts'
import { eventually, type Loose, type Platform } from './platform.ts'

const run = promisify(execFile)

export const isDone = ({ status }: Loose) => status === 'done' || status === 'failed'
export const hasEnded = ({ ended_at }: Loose) => ended_at !== null

export function attemptsOf(platform: Platform, agent: string) {
  const url = `/api/agents/${agent}/attempts`
  const get = async (id: string): Promise<Loose> => (await platform.request('GET', `${url}/${id}`)).json

  /** Reads the data folder, as an operator could. */
  function rows(query: string): Loose[] {
    const db = new DatabaseSync(join(platform.dataDir, 'roost.db'), { readOnly: true })
    try {
      return db.prepare(query).all()
    } finally {
      db.close()
    }
  }

  /** Containers and volumes of this installation, also those on which the workspaces of forks are layered. */
  async function engineObjects(): Promise<string[]> {
    if (dockerOnly) return containerNames()
    const install = (await readFile(join(platform.dataDir, 'install-id'), 'utf8')).trim()
    const filter = ['--filter', `label=roost.install=${install}`, '--format']
    const containers = await docker('ps', '-a', ...filter, '{{.Names}}')
    return `${containers}\n${await docker('volume', 'ls', ...filter, '{{.Name}}')}`.split('\n').sort()
  }

  const forks = async () => (await engineObjects()).filter((name) => name.includes('attempt-'))

  async function refs(): Promise<string[]> {
    const folder = join(platform.dataDir, 'history', 'objects.git')
    const args = ['-c', 'safe.directory=*', '--git-dir', folder, 'for-each-ref', '--format=%(refname)']
    return (await run('git', args)).stdout.split('\n').filter(Boolean)
  }

  return {
    ...{ url, rows, engineObjects, forks, refs },

    async start(body: object): Promise<string> {
      const reply = await platform.request('POST', url, body)
      assert.equal(reply.status, 202, reply.text)
      return reply.json.id
    },

    /** Eight attempts that start at once need minutes on a loaded machine. */
    async until(id: string, isReached: (set: Loose) => boolean): Promise<Loose> {
      try {
        return await eventually(() => get(id), isReached, 300_000)
      } catch (error) {
        const { status, attempts } = await get(id)
        const states = attempts.map((attempt: Loose) => attempt.status)
        throw new Error(`the set is ${status}: ${states.join(', ')}`, { cause: error })
      }
    },

    read: async (path: string): Promise<string> =>
      (await platform.request('GET', `/api/agents/${agent}/files/download?path=${path}`)).text,

    /** Nothing of attempts: no container, volume, agent, key or record. */
    async assertNothingLeft(): Promise<void> {
      assert.deepEqual(await eventually(forks, (names) => names.length === 0), [])
      assert.deepEqual(rows('select name from agents where attempt_set_id is not null'), [])
      assert.deepEqual(rows('select id from agent_leftovers'), [])
      assert.deepEqual(rows("select id from workspace_records where reason = 'attempt'"), [])
      const known = new Set(rows('select id from workspace_records').map(({ id }) => id))
      assert.deepEqual(
        (await refs()).filter((name) => !known.has(name.split('/').at(-1) ?? '')),
        [],
      )
    },
  }
}
