import type { Principal } from '@roost/contracts/link/runs'
import { type CallerUser, type KeyCaller, type Reach, readPrincipal } from '../access/index.ts'
import { callerUser, type Users } from '../users/index.ts'
import { createRunKeyText, type EarlierMacs, type RunKeyRef, type RunOf } from './text.ts'

/** The properties of an agent that its run keys depend on. */
export type RunKeyAgent = {
  id: string
  name: string
  owner_id: string
  is_system: boolean
  /** The agent's own key; null before its first start. */
  agent_key_id: string | null
}

export type RunKeysDeps = {
  /** Keyed hash of the installation, as text. */
  mac(text: string): string
  /** For keys of turns that ran while the installation's key was rotated. */
  earlierMacs?: EarlierMacs
  users: Pick<Users, 'find'>
  /** Returns the run if it is running, or the running turn of the conversation. One indexed query. */
  running(run: RunOf): Promise<{ id: string; principal: string | null } | null>
  /** False for a revoked or deleted key, and while its owner is suspended. Served from memory. */
  isKeyWorking(keyId: string): Promise<boolean>
  /** Served from memory. Null for an unknown or deleted agent. */
  agent(id: string): Promise<RunKeyAgent | null>
  /** The present access of a principal to this agent; `ended` if it has none. Served from memory. */
  principalFor(agentId: string, principal: string): Promise<Principal | { ended: string }>
}

export type RunKeys = {
  /** The key of a run. A run always has the same one. */
  mint(run: RunOf, agentKeyId: string, principal: string): string
  /** True for a key that was made here, whether or not its run is still running. */
  isGenuine(presented: string): boolean
  /** Returns the caller of a presented key; null if it is not genuine or its run has ended. */
  verify(presented: string): Promise<KeyCaller | null>
  /** The same for `KeyCaller.run.ref`, for work that outlives its request. */
  callerOf(ref: string): Promise<KeyCaller | null>
}

/** Minted keys in memory: each is needed at the claim and for masking every message of the run. */
const maxCachedKeys = 1_000

export function createRunKeys(deps: RunKeysDeps): RunKeys {
  const { users } = deps
  const text = createRunKeyText(deps.mac, deps.earlierMacs)
  const minted = new Map<string, string>()

  function remember(name: string, key: string): string {
    minted.set(name, key)
    const [oldest] = minted.keys()
    if (minted.size > maxCachedKeys && oldest !== undefined) minted.delete(oldest)
    return key
  }

  async function resolve(ref: RunKeyRef): Promise<KeyCaller | null> {
    const agent = await deps.agent(ref.agentId)
    if (!agent || agent.agent_key_id === null) return null
    if (!(await deps.isKeyWorking(agent.agent_key_id))) return null
    const run = await deps.running(ref)
    if (!run || run.principal === null) return null
    if (!text.isBinding(ref.binding, agent.agent_key_id, run.principal)) return null
    const principal = await deps.principalFor(agent.id, run.principal)
    if ('ended' in principal) return null
    const reach = reachOf(principal)
    const user = await userOf(agent, run.principal, reach)
    if (!user) return null
    const id = reach === 'owner' ? agent.agent_key_id : text.refText(ref)
    const scope = agent.is_system && reach === 'owner' ? 'system' : 'agent'
    return {
      kind: 'key',
      user,
      key: { id, name: `Agent ${agent.name}`, scope, agent_id: agent.id, principal: principal.id },
      run: { ref: text.refText(ref), execution_id: run.id, reach },
    }
  }

  /**
   * The account whose rights limit the key: that of the principal, else the agent's owner. Null if either of them
   * is suspended or removed.
   */
  async function userOf(agent: RunKeyAgent, principal: string, reach: Reach): Promise<CallerUser | null> {
    const owner = await users.find(agent.owner_id)
    if (!owner || owner.suspended_at !== null) return null
    const read = readPrincipal(principal)
    if (read?.kind !== 'user') return callerUser(owner)
    const account = await users.find(read.id)
    if (!account || account.suspended_at !== null) return null
    return callerUser(reach === 'owner' ? owner : account)
  }

  return {
    mint(run, agentKeyId, principal) {
      const name = [run.kind, run.id, agentKeyId, principal].join('\0')
      const binding = () => text.binding(agentKeyId, principal)
      return minted.get(name) ?? remember(name, text.write({ ...run, binding: binding() }))
    },
    isGenuine: (presented) => text.read(presented) !== null,
    async verify(presented) {
      const ref = text.read(presented)
      return ref && resolve(ref)
    },
    async callerOf(id) {
      const ref = text.readRef(id)
      return ref && resolve(ref)
    },
  }
}

/** Fails closed: a principal that may not write gets the smallest reach. */
function reachOf({ id, access, credentials }: Principal): Reach {
  if (access === 'owner') return 'owner'
  const isKnown = ['user', 'agent'].includes(readPrincipal(id)?.kind ?? '')
  return access === 'write' && credentials && isKnown ? 'shared' : 'guest'
}
