import type { Vault } from '../../foundation/vault/index.ts'
import type { Keys } from '../../identity/keys/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import { agentKeyContext } from '../lifecycle/index.ts'
import { type Agent, agentStore } from '../records/index.ts'

export type ReplaceKeyDeps = {
  keys: Pick<Keys, 'mintAgentKey' | 'revokeAgentKeys'>
  vault: Pick<Vault, 'seal'>
}

/** Stores a new key and revokes the agent's other ones. Returns its id. Throws `agent_not_found`. */
export async function replaceKey(
  { keys, vault }: ReplaceKeyDeps,
  tx: Tx,
  { id: agentId, owner_id: ownerId, name }: Agent,
): Promise<string> {
  const { id, key } = await keys.mintAgentKey(tx, { agentId, ownerId, name: `Agent ${name}` })
  const agent_key_sealed = vault.seal(key, agentKeyContext(agentId))
  if (!(await agentStore(tx).update(agentId, { agent_key_id: id, agent_key_sealed })))
    throw new Fault('agent_not_found')
  await keys.revokeAgentKeys(tx, agentId, id)
  return id
}
