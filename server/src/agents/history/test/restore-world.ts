import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { HistoryRules } from '@roost/contracts/link/history'
import { platformAnswerSchemas } from '@roost/contracts/link/schemas'
import { readTree, type Tree } from '@roost/test-support/trees/random'
import { createRestores, type Restores } from '../../../../../agent/src/history/restore.ts'
import { createRestoreCalls } from '../../../../../agent/src/history/restore-calls.ts'
import { createScanner } from '../../../../../agent/src/history/scan.ts'
import { systemClock as agentClock } from '../../../../../agent/src/kit/clock.ts'
import { LinkFault as AgentFault } from '../../../../../agent/src/link/link.ts'
import { createIdentities, readIdentityFacts } from '../../../../../agent/src/processes/identity.ts'
import { systemClock } from '../../../kit/clock.ts'
import { type AgentLink, LinkFault, type PlatformCallName } from '../../../ports/agent-link/port.ts'
import { openGitStore } from '../../../ports/workspace-history/git-store.ts'
import type { RecordId, StoredEntry } from '../../../ports/workspace-history/port.ts'
import type { RestoreDeps, RestoreOptions } from '../restore.ts'

export const everything: HistoryRules = { patterns: [], max_file_bytes: 1e12 }

/** Workspaces, the agent's code and the store, in one process. */
export async function openRestoreWorld() {
  const root = mkdtempSync(join(tmpdir(), 'roost-restore-'))
  const store = await openGitStore({ folder: join(root, 'store'), path: process.env.PATH ?? '' })
  let restores = 0

  /** With `snapshots`, records are kept in memory instead of the store. */
  function agentAt(name: string, snapshots?: Snapshots) {
    const place = join(root, name)
    const home = join(place, 'home')
    const journal = join(place, 'restore', 'journal')
    const index = join(place, 'index')
    mkdirSync(home, { recursive: true })
    const identities = createIdentities(readIdentityFacts(statSync(home)))
    const scanner = createScanner({ home, file: index, identities, clock: agentClock })
    const foreign: boolean[] = []
    const open = (): Restores =>
      createRestores({
        ...{ home, journal, index, identities, clock: timerless },
        log: { info() {}, warn() {} },
        onRestore: async (hasForeign) => void foreign.push(hasForeign),
        onChanged() {},
      })
    let agent = open()
    let base: string | null = null
    let records = 0
    const answers = createRestoreCalls(async () => agent)
    const link: Pick<AgentLink, 'call'> = {
      async call(_, t, request) {
        const sent = JSON.parse(JSON.stringify(request))
        try {
          const answer = await answers[t as keyof typeof answers](sent)
          return platformAnswerSchemas[t as PlatformCallName].parse(
            JSON.parse(JSON.stringify(answer)),
          ) as never
        } catch (error) {
          throw error instanceof AgentFault
            ? new LinkFault({ code: error.code, message: error.message })
            : error
        }
      },
    }
    const deps: RestoreDeps = { link, history: snapshots ?? store, clock: systemClock }
    return {
      ...{ home, journal, index, deps, answers, foreign },
      /** As after a restart of the program. */
      restart() {
        agent = open()
        return agent.resume()
      },
      /** Returns the record and whether it differs from the one before it. */
      async record(rules = everything): Promise<{ record: string; isChanged: boolean }> {
        await using scan = await scanner.scan(rules, base === null ? [] : [base])
        if (snapshots) {
          records += 1
          base = `r${records}`
          snapshots.add(base, home)
          await scan.commit(base)
          return { record: base, isChanged: true }
        }
        await using draft = await store.open({ agent: name, base: scan.base, maxBytes: 1e12 })
        for (const path of scan.gone) await draft.remove(path)
        for (const entry of scan.came) {
          if (entry.kind === 'folder') await draft.folder(entry)
          else if (!(await draft.keep(entry, await scan.digest(entry), entry.path)))
            await draft.put(entry, scan.content(entry))
        }
        records += 1
        base = `r${records}`
        const { isChanged } = await draft.commit(base)
        await scan.commit(base)
        return { record: base, isChanged }
      },
      options(record: string, options: Partial<RestoreOptions> = {}): RestoreOptions {
        restores += 1
        return {
          ...{ restoreId: `restore-${restores}`, agentId: name, storeAgent: name },
          source: { agent: name, record },
          ...{ paths: [''], rules: everything, leftOut: [] },
          ...options,
        }
      },
    }
  }

  return {
    root,
    store,
    agentAt,
    async [Symbol.asyncDispose]() {
      await store.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Records in memory. */
export function createSnapshots() {
  const records = new Map<string, Tree>()
  return {
    add: (record: string, home: string) => void records.set(record, readTree(home)),
    async list({ record }: RecordId, folder: string): Promise<StoredEntry[] | null> {
      const start = folder === '' ? '' : `${folder}/`
      const isInside = (path: string) =>
        path !== '' && path.startsWith(start) && !path.slice(start.length).includes('/')
      return [...(records.get(record) ?? [])]
        .filter(([path]) => isInside(path))
        .map(([path, { kind, mode, content }]) => ({
          ...{ path, kind, mode, owner: true, sparse: false },
          content: kind === 'folder' ? `${record}/${path}` : digestOf(content),
        }))
    },
    async *readAll<T extends { path: string }>({ record }: RecordId, items: readonly T[]) {
      for (const item of items) {
        const found = records.get(record)?.get(item.path)
        yield { item, pieces: found ? Readable.from([Buffer.from(found.content, 'latin1')]) : null }
      }
    },
  }
}

type Snapshots = ReturnType<typeof createSnapshots>

/** As git names it. */
export function digestOf(content: string): string {
  return createHash('sha256').update(`blob ${content.length}\0`).update(content, 'latin1').digest('hex')
}

/** An expiry that is never reached must not keep the test alive. */
const timerless = {
  elapsed: () => performance.now(),
  after(ms: number, act: () => void) {
    const timer = setTimeout(act, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
