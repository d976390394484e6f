import { CredentialHosts, mostEgressCredentials } from '@roost/contracts/agents/egress'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { agentStore } from '../records/index.ts'
import { nameFault, valueFault, valuesIn, withPlaceholders } from './env-rules.ts'
import type { Policies } from './policies.ts'
import { normalizeHosts } from './rules.ts'
import { egressStore } from './store.ts'
import type { CredentialsTable } from './tables.ts'

/** Credentials whose values stay in the platform: how values come in, and what a `.env` contains instead. */
export type BoundCredentials = {
  /**
   * Processes a `.env` before it is written to the workspace: stores values of bound variables and returns
   * the text with placeholders. `hosts` binds further variables.
   */
  store(agentId: string, text: string, hosts: Readonly<Record<string, readonly string[]>>): Promise<string>
  /** Does the same for the workspace's existing `.env`, but stores a value only if none is stored yet. */
  settle(agentId: string, text: string): Promise<string>
  put(agentId: string, name: string, request: BindingRequest): Promise<CredentialsTable>
  /** Throws `not_found`. */
  remove(agentId: string, name: string): Promise<void>
  /** Copies them with their values to a new agent. */
  copy(tx: Tx, from: string, to: string): Promise<void>
  names(tx: Tx, agentId: string): Promise<string[]>
  /** Declares a template's bound variables; their values come later. Returns warnings for invalid entries. */
  declare(tx: Tx, agentId: string, setup: readonly Record<string, unknown>[]): Promise<string[]>
}
type BindingRequest = {
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

  /** Serializes changes of an agent's credentials. */
  function change<T>(agentId: string, act: (tx: Tx, rows: CredentialsTable[]) => Promise<T>): Promise<T> {
    return db.atomically(async (tx) => {
      await agentStore(tx).lock(agentId)
      const result = await act(tx, await egressStore(tx).credentials(agentId))
      tx.onCommitted(() => policies.changed(agentId))
      return result
    })
  }

  function row(
    agentId: string,
    name: string,
    { hosts, value, places }: BindingRequest,
    before?: CredentialsTable,
  ) {
    const isNew = value !== undefined || !before
    const fresh: CredentialsTable = {
      agent_id: agentId,
      name,
      hosts: JSON.stringify(normalizeHosts(hosts)),
      places: places ? JSON.stringify([...new Set(['header', ...places])]) : (before?.places ?? '["header"]'),
      value_sealed:
        value === undefined ? (before?.value_sealed ?? null) : policies.seal(agentId, name, value),
      source: 'owner',
      updated_at: isNew ? timestamp(clock.now()) : before.updated_at,
      last_used_at: before?.last_used_at ?? null,
    }
    return fresh
  }

  function enforceLimit(count: number): void {
    if (count <= mostEgressCredentials) return
    throw new Fault('conflict', `An agent has at most ${mostEgressCredentials} bound credentials.`)
  }

  const rewritten = (agentId: string, text: string, rows: CredentialsTable[], values: Map<string, string>) =>
    withPlaceholders(
      text,
      rows.map(({ name, value_sealed }) => ({
        name,
        placeholder: policies.placeholder(agentId, name),
        hasValue: value_sealed !== null,
      })),
      values,
    )

  /** Stores the values and returns all updated rows. */
  async function storeValues(tx: Tx, agentId: string, rows: CredentialsTable[], values: Map<string, string>) {
    const now = timestamp(clock.now())
    const all = rows.map((each) => {
      const value = values.get(each.name)
      if (value === undefined) return each
      return { ...each, value_sealed: policies.seal(agentId, each.name, value), updated_at: now }
    })
    for (const each of all) if (values.has(each.name)) await egressStore(tx).putCredential(each)
    return all
  }

  return {
    store(agentId, text, hosts) {
      return change(agentId, async (tx, before) => {
        const byName = new Map(before.map((each) => [each.name, each]))
        for (const [name, boundHosts] of Object.entries(hosts)) {
          const fault = nameFault(name)
          if (fault) throw invalidField(['hosts', name], fault)
          byName.set(name, row(agentId, name, { hosts: boundHosts }, byName.get(name)))
        }
        enforceLimit(byName.size)
        const values = valuesIn(text, new Set(byName.keys()))
        for (const [name, value] of values) {
          const fault = valueFault(value)
          if (fault) throw invalidField(['files', '.env', name], fault)
        }
        for (const name of Object.keys(hosts)) {
          if (!values.has(name) && byName.get(name)?.value_sealed == null)
            throw invalidField(['hosts', name], 'requires a value in .env')
          const bound = byName.get(name)
          if (bound) await egressStore(tx).putCredential(bound)
        }
        return rewritten(agentId, text, await storeValues(tx, agentId, [...byName.values()], values), values)
      })
    },

    async settle(agentId, text) {
      const bound = await egressStore(db).credentials(agentId)
      const values = valuesIn(text, new Set(bound.map(({ name }) => name)))
      if (values.size === 0) return rewritten(agentId, text, bound, values)
      return change(agentId, async (tx, rows) => {
        const missing = rows.filter(({ value_sealed }) => value_sealed === null).map(({ name }) => name)
        // A value that cannot be stored stays in the file, or the agent would lose it.
        const storable = [...values].filter(([name, value]) => missing.includes(name) && !valueFault(value))
        const all = await storeValues(tx, agentId, rows, new Map(storable))
        const replaced = all.filter(({ value_sealed }) => value_sealed !== null).map(({ name }) => name)
        const replacedValues = [...values].filter(
          ([name, value]) => replaced.includes(name) && value.length >= 8,
        )
        return rewritten(agentId, text, all, new Map(replacedValues))
      })
    },

    put(agentId, name, request) {
      const fault = nameFault(name)
      if (fault) throw invalidField(['variable'], fault)
      return change(agentId, async (tx, rows) => {
        const before = rows.find((each) => each.name === name)
        if (!before && request.value === undefined)
          throw invalidField(['value'], 'is required because no value is stored yet')
        enforceLimit(rows.length + (before ? 0 : 1))
        const fresh = row(agentId, name, request, before)
        await egressStore(tx).putCredential(fresh)
        return fresh
      })
    },

    remove: (agentId, name) =>
      change(agentId, async (tx) => {
        if (!(await egressStore(tx).removeCredential(agentId, name)))
          throw new Fault('not_found', 'There is no such credential.')
      }),

    async copy(tx, from, to) {
      const updated_at = timestamp(clock.now())
      for (const credential of await egressStore(tx).credentials(from)) {
        const { value_sealed } = credential
        const sealed = value_sealed && policies.reseal({ ...credential, value_sealed }, to)
        const copied = { ...credential, agent_id: to, value_sealed: sealed, updated_at, last_used_at: null }
        await egressStore(tx).putCredential(copied)
      }
      tx.onCommitted(() => policies.changed(to))
    },
    names: async (tx, agentId) => (await egressStore(tx).credentials(agentId)).map(({ name }) => name),

    async declare(tx, agentId, setup) {
      const warnings: string[] = []
      for (const { name, hosts } of setup.filter((each) => each.hosts !== undefined)) {
        const checked = CredentialHosts.safeParse(hosts)
        const variable = typeof name === 'string' ? name : ''
        const fault = nameFault(variable) ?? (checked.success ? null : 'has no valid hosts')
        if (fault || !checked.success) {
          warnings.push(`credential_setup: ${variable.slice(0, 100)} ${fault}; it is not bound`)
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
