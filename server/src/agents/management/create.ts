import { defaultAgentType, type Resources } from '@roost/contracts/agents/agent'
import type { CreateAgent, CreatedAgent } from '@roost/contracts/agents/registry'
import { parseModelOverride } from '@roost/contracts/kit/model'
import type { Claim } from '../../foundation/idempotency/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import type { Keys } from '../../identity/keys/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { agentKeyContext, engineFault, type Lifecycle, settleRunning } from '../lifecycle/index.ts'
import { type Agent, type AgentRecords, type AgentsTable, agentStore, blankRow } from '../records/index.ts'
import { atBranch, parseTemplateName, type ResolvedTemplate, type Templates } from '../templates/index.ts'
import type { AgentHooks } from './hooks.ts'
import {
  agentExists,
  distinct,
  refuseOverQuota,
  refuseReservedName,
  requireModel,
  resourcesFor,
  tagChange,
  templateTags,
} from './rules.ts'
import { rowOf } from './view.ts'

export type CreateDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'changed'>
  events: Pick<Outbox, 'append'>
  vault: Pick<Vault, 'seal'>
  keys: Pick<Keys, 'mintAgentKey' | 'deleteAgentKeys'>
  templates: Pick<Templates, 'resolve'>
  lifecycle: Pick<Lifecycle, 'lock' | 'machine' | 'ports' | 'leftovers'>
  hooks: AgentHooks
  /** Agents that a creator may own; 0 means unlimited. */
  agentQuota(): Promise<number>
  /** What a private repository of templates may be read with: the person's own token, else the platform's. */
  gitTokenOf(userId: string): Promise<Secret | null>
  /** Of agents whose creator named none. */
  defaultResources(): Promise<Resources>
}

/**
 * Makes an agent in the fixed order: name, uniqueness, quota, template, port, key, volumes, container. A
 * failure after the row exists removes everything it made; a process that dies half-way leaves a row in
 * state `creating` that the repair loop removes.
 */
export function createCreate(deps: CreateDeps) {
  const { db, clock, log, agentRecords, events, vault, keys, templates, lifecycle, hooks } = deps

  /** `claim` is taken in the transaction that makes the row. Throws `ClaimTaken` beside the endpoint's faults. */
  async function create(
    caller: SignedIn,
    body: CreateAgent,
    claim?: Pick<Claim, 'take'>,
  ): Promise<CreatedAgent> {
    refuseReservedName(body.name)
    const model = requireModel(body.runtime_model)
    tagChange(caller, [], distinct(body.tags ?? []))
    const store = agentStore(db)
    if (await store.byName(body.name)) throw agentExists(body.name)
    const quota = await deps.agentQuota()
    refuseOverQuota(caller, await store.countOwnedBy(caller.user.id), quota)
    const template = await resolveTemplate(caller, body)
    const resources = resourcesFor(body.resources, template?.file.resources, await deps.defaultResources())
    const wanted = rowFor(caller, body, { model, template, resources, now: clock.now() })
    const tags = distinct([...(body.tags ?? []), ...templateTags(template?.file.tags ?? [])])

    return lifecycle.lock.run(wanted.id, async () => {
      const agent = await inOwnersTurn(caller, quota, () =>
        db.atomically((tx) => register(tx, caller, { wanted, tags, quota, claim })),
      )
      try {
        const { made, facts } = await bringToLife(agent, caller, template)
        return {
          ...rowOf(made, 'owner'),
          missing_credentials: (template?.required ?? []).map(({ name }) => name),
          schedules_created: facts.schedules_created,
          schedule_errors: template?.scheduleErrors ?? [],
          template_warnings: template?.warnings ?? [],
          warnings: [...leftOutWarnings(template), ...facts.warnings],
        }
      } catch (error) {
        await undo(agent.id).catch((failure: unknown) => {
          log.warn(
            { err: failure, agent: agent.name },
            'a creation could not be undone yet; it is tried again',
          )
        })
        throw engineFault(error)
      }
    })
  }

  /** Two creations that count at once would both find room under the quota. */
  function inOwnersTurn<T>(caller: SignedIn, quota: number, work: () => Promise<T>): Promise<T> {
    const isBound = caller.user.role !== 'admin' && quota > 0
    return isBound ? lifecycle.lock.run(`of-owner:${caller.user.id}`, work) : work()
  }

  async function resolveTemplate(caller: SignedIn, body: CreateAgent): Promise<ResolvedTemplate | null> {
    const named = templateNamed(body)
    return named === null ? null : templates.resolve(named, () => deps.gitTokenOf(caller.user.id))
  }

  /** The row, the port and the key, or nothing: of twenty with one name one gets here. */
  async function register(
    tx: Tx,
    caller: SignedIn,
    { wanted, tags, quota, claim }: Registration,
  ): Promise<Agent> {
    const store = agentStore(tx)
    // First of all: the same request twice is told so, and not that its name is taken.
    await claim?.take(tx, { resource_id: wanted.id })
    refuseOverQuota(caller, await store.countOwnedBy(caller.user.id), quota)
    if (!(await store.insert(wanted))) throw agentExists(wanted.name)
    const port = await lifecycle.ports.claim(tx, wanted.id)
    const { id, key } = await keys.mintAgentKey(tx, {
      agentId: wanted.id,
      ownerId: caller.user.id,
      name: `Agent ${wanted.name}`,
    })
    const sealed = vault.seal(key, agentKeyContext(wanted.id))
    await store.update(wanted.id, { port, agent_key_id: id, agent_key_sealed: sealed })
    await store.addTags(wanted.id, tags)
    agentRecords.changed(tx, wanted.id)
    const agent = await store.byId(wanted.id)
    if (!agent) throw new Fault('agent_not_found')
    return agent
  }

  async function bringToLife(agent: Agent, caller: SignedIn, template: ResolvedTemplate | null) {
    const { at, agent: started } = await lifecycle.machine.bringUp(agent)
    return db.atomically(async (tx) => {
      if (!(await settleRunning(tx, started, at, 'creating'))) throw new Fault('agent_not_found')
      const now = clock.now()
      const made = await agentStore(tx).byId(agent.id)
      if (!made) throw new Fault('agent_not_found')
      const schedules = template?.schedules ?? []
      const facts = await hooks.created(tx, {
        agent: made,
        ownerId: caller.user.id,
        schedules,
        skills: (template?.file.skills ?? []).map(({ name }) => name),
        credentialSetup: template?.file.credential_setup ?? [],
        now,
      })
      const { name, type, status, port, created, cpu, memory } = made
      const data = { name, type, status, port, created, resources: { cpu, memory } }
      await events.append(
        tx,
        {
          type: 'agent.created',
          agent_names: [name],
          agent_ids: [agent.id],
          fields: { event: 'agent_created', data },
        },
        now,
      )
      agentRecords.changed(tx, agent.id)
      return { made, facts }
    })
  }

  async function undo(agentId: string): Promise<void> {
    const leftover = await db.atomically(async (tx) => {
      const present = await agentStore(tx).byId(agentId)
      if (!present) return null
      await keys.deleteAgentKeys(tx, agentId)
      return lifecycle.leftovers.leaveBehind(tx, present)
    })
    if (leftover) await lifecycle.leftovers.clear(leftover)
  }

  return create
}

type Registration = {
  wanted: AgentsTable
  tags: string[]
  quota: number
  claim: Pick<Claim, 'take'> | undefined
}

function rowFor(
  caller: SignedIn,
  body: CreateAgent,
  {
    model,
    template,
    resources,
    now,
  }: { model: string | null; template: ResolvedTemplate | null; resources: Resources; now: Date },
): AgentsTable {
  const created = timestamp(now)
  return {
    ...blankRow(body.name, created),
    type: body.type ?? template?.file.type ?? defaultAgentType,
    owner_id: caller.user.id,
    owner: caller.user.username,
    runtime: body.runtime ?? template?.file.runtime.type ?? 'claude-code',
    runtime_model: model,
    cpu: resources.cpu,
    memory: resources.memory,
    template: templateNamed(body),
    template_commit: template?.git?.commit ?? null,
    github_repo: template?.git?.repository ?? null,
    source_branch: template?.git?.branch ?? null,
    template_model: parseModelOverride(template?.file.runtime.model) ?? null,
    label: body.label ?? null,
    custom_instructions: body.custom_instructions?.trim() ? body.custom_instructions : null,
    full_capabilities: body.full_capabilities ? 1 : 0,
    expose_folder: template?.file.shared_folders.expose ? 1 : 0,
    consume_folders: template?.file.shared_folders.consume ? 1 : 0,
    ephemeral: body.ephemeral ? JSON.stringify(body.ephemeral) : null,
  }
}

/** What the agent is made from, with its branch. Null: from nothing. Throws `validation_error`. */
function templateNamed({ template, github_repo, source_branch }: CreateAgent): string | null {
  const named = template ?? (github_repo ? `github:${github_repo}` : null)
  if (named === null) return null
  if (template && github_repo && parseTemplateName(template)?.repository !== github_repo) {
    throw new Fault('validation_error', 'github_repo: must be the repository of template, or be left out.')
  }
  return atBranch(named, source_branch ?? null)
}

function leftOutWarnings(template: ResolvedTemplate | null): string[] {
  return (template?.git?.leftOut ?? []).map(
    (path) => `"${path}" is a submodule of the repository; its content was left out.`,
  )
}
