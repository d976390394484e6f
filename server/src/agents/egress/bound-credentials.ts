import { CredentialHosts, mostEgressCredentials } from '@roost/contracts/agents/egress'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { agentStore } from '../records/index.ts'
import { nameFault, valueFault, valuesIn, withPlaceholders } from './env-rules.ts'
import type { Policies } from './policies.ts'
import { spellHosts } from './rules.ts'
import { egressStore } from './store.ts'
import type { CredentialsTable } from './tables.ts'

/** Credentials that stay here: how values come in, and what a `.env` holds instead of them. */
export type BoundCredentials = {
  /**
   * The text of a `.env` that is about to be written into the workspace: values of bound variables are kept here,
   * and placeholders stand for them. `hosts` binds further variables of it.
   */
  store(agentId: string, text: string, hosts: Readonly<Record<string, readonly string[]>>): Promise<string>
  /** The same for the `.env` of the workspace. Only a value that is still missing here is kept. */
  settle(agentId: string, text: string): Promise<string>
  put(agentId: string, name: string, wanted: Wanted): Promise<CredentialsTable>
  /** Throws `not_found`. */
  remove(agentId: string, name: string): Promise<void>
  /** Of a template: hosts alone, the values come later. Answers what could not be understood. */
  declare(tx: Tx, agentId: string, setup: readonly Record<string, unknown>[]): Promise<string[]>
}
type Wanted = {
  hosts: readonly string[]
  value?: string | undefined
  places?: readonly ('header' | 'query')[] | undefined
}

export function createBoundCredentials(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  policies: Policies
}): BoundCredentials {
  const { db, clock, policies } = deps

  /** One change of an agent's credentials after the other. */
  function change<T>(agentId: string, act: (tx: Tx, rows: CredentialsTable[]) => Promise<T>): Promise<T> {
    return db.atomically(async (tx) => {
      await agentStore(tx).lock(agentId)
      const result = await act(tx, await egressStore(tx).credentials(agentId))
      tx.onCommitted(() => policies.changed(agentId))
      return result
    })
  }

  function row(agentId: string, name: string, { hosts, value, places }: Wanted, before?: CredentialsTable) {
    const isNew = value !== undefined || !before
    const fresh: CredentialsTable = {
      agent_id: agentId,
      name,
      hosts: JSON.stringify(spellHosts(hosts)),
      places: places ? JSON.stringify([...new Set(['header', ...places])]) : (before?.places ?? '["header"]'),
      value_sealed:
        value === undefined ? (before?.value_sealed ?? null) : policies.seal(agentId, name, value),
      source: 'owner',
      updated_at: isNew ? timestamp(clock.now()) : before.updated_at,
      last_used_at: before?.last_used_at ?? null,
    }
    return fresh
  }

  function refuseMore(count: number): void {
    if (count <= mostEgressCredentials) return
    throw new Fault('conflict', `An agent has at most ${mostEgressCredentials} credentials that stay here.`)
  }

  const rewritten = (agentId: string, text: string, rows: CredentialsTable[], taken: Map<string, string>) =>
    withPlaceholders(
      text,
      rows.map(({ name, value_sealed }) => ({
        name,
        placeholder: policies.placeholder(agentId, name),
        hasValue: value_sealed !== null,
      })),
      taken,
    )

  /** Writes the values down and answers all rows as they are then. */
  async function adopt(tx: Tx, agentId: string, rows: CredentialsTable[], taken: Map<string, string>) {
    const now = timestamp(clock.now())
    const all = rows.map((each) => {
      const value = taken.get(each.name)
      if (value === undefined) return each
      return { ...each, value_sealed: policies.seal(agentId, each.name, value), updated_at: now }
    })
    for (const each of all) if (taken.has(each.name)) await egressStore(tx).putCredential(each)
    return all
  }

  return {
    store(agentId, text, hosts) {
      return change(agentId, async (tx, before) => {
        const byName = new Map(before.map((each) => [each.name, each]))
        for (const [name, wanted] of Object.entries(hosts)) {
          const fault = nameFault(name)
          if (fault) throw invalidField(['hosts', name], fault)
          byName.set(name, row(agentId, name, { hosts: wanted }, byName.get(name)))
        }
        refuseMore(byName.size)
        const taken = valuesIn(text, new Set(byName.keys()))
        for (const [name, value] of taken) {
          const fault = valueFault(value)
          if (fault) throw invalidField(['files', '.env', name], fault)
        }
        for (const name of Object.keys(hosts)) {
          if (!taken.has(name) && byName.get(name)?.value_sealed == null)
            throw invalidField(['hosts', name], 'must be given a value in .env')
          const bound = byName.get(name)
          if (bound) await egressStore(tx).putCredential(bound)
        }
        return rewritten(agentId, text, await adopt(tx, agentId, [...byName.values()], taken), taken)
      })
    },

    async settle(agentId, text) {
      const bound = await egressStore(db).credentials(agentId)
      const taken = valuesIn(text, new Set(bound.map(({ name }) => name)))
      if (taken.size === 0) return rewritten(agentId, text, bound, taken)
      return change(agentId, async (tx, rows) => {
        const missing = rows.filter(({ value_sealed }) => value_sealed === null).map(({ name }) => name)
        // A value that cannot be kept stays where it is: the agent would have none at all otherwise.
        const kept = [...taken].filter(([name, value]) => missing.includes(name) && !valueFault(value))
        const all = await adopt(tx, agentId, rows, new Map(kept))
        const replaced = all.filter(({ value_sealed }) => value_sealed !== null).map(({ name }) => name)
        const gone = [...taken].filter(([name, value]) => replaced.includes(name) && value.length >= 8)
        return rewritten(agentId, text, all, new Map(gone))
      })
    },

    put(agentId, name, wanted) {
      const fault = nameFault(name)
      if (fault) throw invalidField(['variable'], fault)
      return change(agentId, async (tx, rows) => {
        const before = rows.find((each) => each.name === name)
        if (!before && wanted.value === undefined)
          throw invalidField(['value'], 'must be given: there is none yet')
        refuseMore(rows.length + (before ? 0 : 1))
        const fresh = row(agentId, name, wanted, before)
        await egressStore(tx).putCredential(fresh)
        return fresh
      })
    },

    remove: (agentId, name) =>
      change(agentId, async (tx) => {
        if (!(await egressStore(tx).removeCredential(agentId, name)))
          throw new Fault('not_found', 'There is no such credential.')
      }),

    async declare(tx, agentId, setup) {
      const warnings: string[] = []
      for (const { name, hosts } of setup.filter((each) => each.hosts !== undefined)) {
        const checked = CredentialHosts.safeParse(hosts)
        const variable = typeof name === 'string' ? name : ''
        const fault = nameFault(variable) ?? (checked.success ? null : 'has no valid hosts')
        if (fault || !checked.success) {
          warnings.push(
            `credential_setup: ${variable.slice(0, 100)} ${fault}; it does not stay in the platform`,
          )
          continue
        }
        await egressStore(tx).putCredential({
          ...row(agentId, variable, { hosts: checked.data }),
          source: 'template',
        })
      }
      tx.onCommitted(() => policies.changed(agentId))
      return warnings
    },
  }
}
