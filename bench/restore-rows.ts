/** Rows of `history.ts`: a restore by platform and agent program, compared with `git checkout` of the same files. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createRestores } from '../agent/src/history/restore.ts'
import { createRestoreCalls } from '../agent/src/history/restore-calls.ts'
import { systemClock as agentClock } from '../agent/src/kit/clock.ts'
import { createIdentities, readIdentityFacts } from '../agent/src/processes/identity.ts'
import { defaultHistoryRules } from '../contracts/src/link/history.ts'
import { applyRestore } from '../server/src/agents/history/restore.ts'
import { systemClock } from '../server/src/kit/clock.ts'
import type { AgentLink } from '../server/src/ports/agent-link/port.ts'
import type { WorkspaceHistory } from '../server/src/ports/workspace-history/port.ts'
import { compare, milliseconds } from './measure.ts'

export type RestoreRows = {
  home: string
  folder: string
  history: WorkspaceHistory
  /** Name of the agent in the store. */
  agent: string
  record: string
  /** File of the scanner, for this record. */
  index: string
  /** Repository of the peer, in which the workspace is committed. */
  shadow: string
  /** Each is rewritten with as many bytes before the second row. */
  changed: readonly string[]
  fileBytes: number
}

const run = promisify(execFile)

export async function measureRestores(options: RestoreRows): Promise<void> {
  const { home, folder, history, agent, record, index, shadow, changed, fileBytes } = options
  const restores = createRestores({
    ...{ home, index, journal: join(folder, 'journal'), clock: agentClock },
    identities: createIdentities(readIdentityFacts(statSync(home))),
    log: { info() {}, warn() {} },
    onRestore: async () => {},
    onChanged() {},
  })
  const calls = createRestoreCalls(async () => restores)
  /** Hands requests to the program directly, as JSON like the link. */
  const call = async (_agentId: string, t: keyof typeof calls, request: object) =>
    calls[t](JSON.parse(JSON.stringify(request)))
  const link = { call } as unknown as Pick<AgentLink, 'call'>
  let restored = 0

  async function ours(): Promise<void> {
    restored += 1
    const { outcome, conflicts } = await applyRestore(
      { link, history, clock: systemClock },
      {
        ...{ restoreId: `r${restored}`, agentId: 'one', storeAgent: agent, source: { agent, record } },
        ...{ paths: [''], rules: defaultHistoryRules, leftOut: [] },
      },
      async () => {},
    )
    if (outcome !== 'restored' || conflicts.length > 0) throw new Error(`the restore ended as ${outcome}`)
  }

  async function peer(): Promise<void> {
    await run('git', ['--git-dir', shadow, '--work-tree', home, 'checkout', '-q', '-f', 'HEAD', '--', '.'])
    // Ours is on the disk when it ends.
    await run('sync', ['-f', home])
  }

  const damages = {
    'restore of everything': async () => {
      for (const name of await readdir(home)) await rm(join(home, name), { recursive: true })
    },
    [`restore of ${changed.length} changed files`]: async () => {
      for (const path of changed) await writeFile(path, randomBytes(fileBytes))
    },
  }
  for (const [row, damage] of Object.entries(damages)) {
    const times: number[] = []
    for (const act of [ours, peer]) {
      await damage()
      await run('sync')
      times.push(await milliseconds(act))
    }
    compare(row, times.slice(0, 1), times.slice(1), Number.POSITIVE_INFINITY)
  }
}
