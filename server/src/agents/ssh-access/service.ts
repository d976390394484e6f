import type { SshAccess } from '@roost/contracts/agents/settings'
import type { Loop } from '../../background/loops.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { createTurnsByKey } from '../../kit/turns.ts'
import { type AgentLink, LinkFault } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent } from '../records/index.ts'
import type { CallAgent } from '../rpc/index.ts'
import { newSshKeyPair, parsePublicKey } from './keys.ts'
import { sshKeyStore } from './store.ts'

export type AgentSsh = {
  grant(
    agent: Agent,
    request: { ttl_hours: number; public_key?: string | null },
    signal: AbortSignal,
  ): Promise<SshAccess>
  /** Sends the currently valid keys to the agent: when it connects, and after a key expired. */
  deliver(agentId: string): Promise<void>
  /** Call this in the transaction that deletes the agent. */
  forget(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
}

export type AgentSshDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  link: Pick<AgentLink, 'call' | 'isConnected'>
  ask: CallAgent
  /** The setting `ssh_access_enabled`. */
  sshEnabled(): Promise<boolean>
  /** Throws `rate_limited`. */
  limitSsh(agentId: string): Promise<void>
  /** Host name of this machine in the SSH command shown to the user. */
  sshHost: string
}

/** Grants SSH access by key for some hours; stores only public keys. */
export function createAgentSsh(deps: AgentSshDeps): AgentSsh {
  const { db, clock, log, link, ask } = deps
  /** Reading and sending keys is serialized per agent, so the last set to arrive is the newest. */
  const inTurn = createTurnsByKey()

  async function validKeys(agentId: string): Promise<string[]> {
    const now = timestamp(clock.now())
    const keys = await sshKeyStore(db).ofAgent(agentId)
    return keys.filter((key) => key.expires_at > now).map((key) => key.public_key)
  }

  function deliver(agentId: string): Promise<void> {
    return inTurn(agentId, async () => {
      await link.call(agentId, 'ssh.keys', { keys: await validKeys(agentId) }, { timeoutSeconds: 10 })
    })
  }

  async function expire(signal: AbortSignal): Promise<void> {
    const now = timestamp(clock.now())
    for (const agentId of await sshKeyStore(db).agentsWithExpired(now)) {
      if (signal.aborted) return
      try {
        // An agent without a link gets its keys when it connects.
        if (link.isConnected(agentId)) await deliver(agentId)
        await sshKeyStore(db).removeExpired(agentId, now)
      } catch (error) {
        log.warn({ err: error, agent_id: agentId }, 'could not yet remove an expired SSH key; will retry')
      }
    }
  }

  return {
    async grant(agent, request, signal) {
      if (!(await deps.sshEnabled())) throw new Fault('ssh_disabled')
      await deps.limitSsh(agent.id)
      const providedKey = request.public_key ? parsePublicKey(request.public_key) : null
      if (request.public_key && !providedKey) {
        throw invalidField(['public_key'], 'must be one OpenSSH public key without options')
      }
      if (agent.status !== 'running') throw new Fault('agent_stopped')
      if (agent.applied?.network === 'closed')
        throw new Fault('conflict', 'SSH is unavailable because the egress of the agent is enforced.')
      if (agent.port === 0) throw new Fault('conflict', 'The agent has no SSH port because none was free.')
      const pair = providedKey ? null : newSshKeyPair(`roost-${agent.name}`)
      const now = clock.now()
      const expires_at = timestamp(secondsLater(now, request.ttl_hours * 3600))
      const key = {
        id: newId(),
        agent_id: agent.id,
        public_key: providedKey ?? pair?.publicKey ?? '',
        created_at: timestamp(now),
        expires_at,
      }
      await sshKeyStore(db).insert(key)
      try {
        const { host_keys = [] } = await inTurn(agent.id, async () =>
          ask(agent, 'ssh.keys', { keys: await validKeys(agent.id) }, signal),
        )
        return replyFor(agent, { host: deps.sshHost, pair, host_keys, expires_at, hours: request.ttl_hours })
      } catch (error) {
        await sshKeyStore(db).remove(key.id)
        if (!(error instanceof LinkFault)) throw error
        throw new Fault('agent_unresponsive', 'The agent did not accept the key.', {}, { cause: error })
      }
    },
    deliver,
    forget: (tx, agentId) => sshKeyStore(tx).removeOfAgent(agentId),
    loops: [{ name: 'agents.ssh-expiry', everySeconds: 15, run: expire }],
  }
}

function replyFor(
  agent: Agent,
  {
    host,
    pair,
    host_keys,
    expires_at,
    hours,
  }: {
    host: string
    pair: { privateKey: string } | null
    host_keys: string[]
    expires_at: string
    hours: number
  },
): SshAccess {
  const file = `roost-${agent.name}.key`
  const identity = pair ? `-i ${file} ` : ''
  const command = `ssh ${identity}-p ${agent.port} developer@${host}`
  return {
    status: 'granted',
    agent_name: agent.name,
    auth_method: 'key',
    ...(pair ? { private_key: pair.privateKey } : {}),
    connection: { command, host, port: agent.port, user: 'developer' },
    host_keys,
    expires_at,
    expires_in_hours: hours,
    instructions: [
      ...(pair ? [`Save the private key as ${file}; it is shown only now.`, `chmod 600 ${file}`] : []),
      command,
    ],
  }
}
