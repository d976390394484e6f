import {
  isOrganizationalTag,
  maxTags,
  type Resources,
  reservedAgentNames,
  reservedAgentPrefix,
  Tag,
} from '@roost/contracts/agents/agent'
import { parseModelOverride } from '@roost/contracts/kit/model'
import type { SignedIn } from '../../identity/access/caller.ts'
import { Fault, invalidField } from '../../kit/fault.ts'

/** Throws `reserved_agent_name` for route words and for the platform's own prefix. */
export function refuseReservedName(name: string): void {
  const isReserved = reservedAgentNames.some((reserved) => reserved === name)
  if (isReserved) throw new Fault('reserved_agent_name', `The name "${name}" is reserved.`)
  if (name.startsWith(reservedAgentPrefix)) {
    throw new Fault('reserved_agent_name', `Names that start with "${reservedAgentPrefix}" are reserved.`)
  }
}

export function agentExists(name: string): Fault {
  return new Fault('agent_exists', `An agent named "${name}" already exists.`)
}

/** The model override, or null for the default. Throws `invalid_model`, which contains the value. */
export function requireModel(value: string | null | undefined): string | null {
  const model = parseModelOverride(value)
  if (model !== undefined) return model
  throw new Fault('invalid_model', `"${value}" is not a model id.`, { value })
}

/** 0 means unlimited; admins have no quota. */
export function refuseOverQuota(caller: SignedIn, owned: number, quota: number): void {
  if (caller.user.role === 'admin' || quota === 0 || owned < quota) return
  throw new Fault('agent_quota_exceeded', `You own ${owned} agents and have reached your agent limit.`)
}

type RequestedResources = { cpu?: string | null; memory?: string | null } | null | undefined

/** The request takes precedence over the template, and the template over the platform. */
export function resourcesFor(
  request: RequestedResources,
  template: RequestedResources,
  platform: Resources,
): Resources {
  return {
    cpu: (request?.cpu ?? template?.cpu ?? platform.cpu) as Resources['cpu'],
    memory: request?.memory ?? template?.memory ?? platform.memory,
  }
}

/** The valid tags of a template; invalid and organizational ones are ignored. */
export function templateTags(tags: readonly string[]): string[] {
  return tags.flatMap((tag) => {
    const parsed = Tag.safeParse(tag)
    return parsed.success && !isOrganizationalTag(parsed.data) ? [parsed.data] : []
  })
}

export function distinct(tags: readonly string[]): string[] {
  return [...new Set(tags)].sort()
}

/** Throws `human_only` when a key uses an organizational tag, even if the agent already has it. */
export function refuseOrganizational(caller: SignedIn, tag: string): void {
  if (caller.kind !== 'key' || !isOrganizationalTag(tag)) return
  throw new Fault('human_only', `Only a signed-in person may add or remove the tag "${tag}".`)
}

/** The tags to add and remove. Throws `human_only` when a key changes an organizational tag. */
export function tagChange(
  caller: SignedIn,
  before: readonly string[],
  after: readonly string[],
): { added: string[]; removed: string[] } {
  const added = after.filter((tag) => !before.includes(tag))
  const removed = before.filter((tag) => !after.includes(tag))
  for (const tag of [...added, ...removed]) refuseOrganizational(caller, tag)
  if (added.length > 0 && after.length > maxTags) {
    throw invalidField(['tags'], `an agent has at most ${maxTags} tags`)
  }
  return { added, removed }
}

/** The tags in the query; an empty list selects all agents. */
export function wantedTags(query: string | undefined): string[] {
  return (query ?? '')
    .split(',')
    .map((tag) => tag.trim().toLowerCase())
    .filter((tag) => tag !== '')
}
