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
import { ContainerError } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { agentKeyContext, engineFault, type Lifecycle, settleStart } from '../lifecycle/index.ts'
import {
  type Agent,
  type AgentPatch,
  type AgentRecords,
  type AgentsTable,
  agentStore,
  blankRow,
} from '../records/index.ts'
import { atBranch, parseTemplateName, type ResolvedTemplate, type Templates } from '../templates/index.ts'
import type { AgentHooks, CreatedFacts } from './hooks.ts'
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
  /** Maximum number of agents per creator; 0 means unlimited. */
  agentQuota(): Promise<number>
  /** Token for private template repositories: the person's own, else the platform's. */
  gitTokenOf(userId: string): Promise<Secret | null>
  /** Defaults for agents whose creator chose none. */
  defaultResources(): Promise<Resources>
}

/** The content of an agent that comes from elsewhere than a template. */
export type Content = {
  /** Settings that a request for a new agent does not have. */
  columns: AgentPatch
  /** Called before the container is created. */
  prepare?(agent: Agent): Promise<void>
  /** Fills the workspace of the running container, before any caller sees the agent. */
  fill(agent: Agent): Promise<void>
  /** Called in the transaction that makes the agent visible. */
  publish(tx: Tx, agent: Agent, now: Date): Promise<CreatedFacts>
}

/**
 * Creates an agent in a fixed order: name, uniqueness, quota, template, port, key, volumes, container. A
 * failure after the row exists removes everything created. If the process crashes, the row stays `creating`
 * until the repair loop removes it.
 */
export function createCreate(deps: CreateDeps) {
  const { db, clock, log, agentRecords, events, vault, keys, templates, lifecycle, hooks } = deps

  /**
   * `claim` is taken in the transaction that inserts the row. Throws `ClaimTaken` or the endpoint's faults.
   */
  async function create(
    caller: SignedIn,
    body: CreateAgent,
    claim?: Pick<Claim, 'take'>,
    content?: Content,
  ): Promise<CreatedAgent> {
    refuseReservedName(body.name)
    const model = requireModel(body.runtime_model)
    tagChange(caller, [], distinct(body.tags ?? []))
    const store = agentStore(db)
    if (await store.byName(body.name)) throw agentExists(body.name)
    // Attempts have limits of their own.
    const quota = content?.columns.attempt_set_id ? 0 : await deps.agentQuota()
    refuseOverQuota(caller, await store.countOwnedBy(caller.user.id), quota)
    const template = await resolveTemplate(caller, body)
    const resources = resourcesFor(body.resources, template?.file.resources, await deps.defaultResources())
    const row = {
      ...rowFor(caller, body, { model, template, resources, now: clock.now() }),
      ...content?.columns,
    }
    const tags = distinct([...(body.tags ?? []), ...templateTags(template?.file.tags ?? [])])

    return lifecycle.lock.run(row.id, async () => {
      const agent = await serializedByOwner(caller, quota, () =>
        db.atomically((tx) => register(tx, caller, { row, tags, quota, claim })),
      )
      try {
        const { ready, facts } = await startAndPublish(agent, caller, template, content)
        return {
          ...rowOf(ready, 'owner'),
          missing_credentials: (template?.required ?? []).map(({ name }) => name),
          schedules_created: facts.schedules_created,
          schedule_errors: template?.scheduleErrors ?? [],
          template_warnings: template?.warnings ?? [],
          warnings: [...leftOutWarnings(template), ...facts.warnings],
        }
      } catch (error) {
        await undo(agent.id).catch((failure: unknown) => {
          log.warn({ err: failure, agent: agent.name }, 'could not undo a failed creation; will retry')
        })
        throw engineFault(error)
      }
    })
  }

  /** Serializes creations of one owner, because two concurrent ones could both pass the quota check. */
  function serializedByOwner<T>(caller: SignedIn, quota: number, work: () => Promise<T>): Promise<T> {
    const hasQuota = caller.user.role !== 'admin' && quota > 0
    return hasQuota ? lifecycle.lock.run(`of-owner:${caller.user.id}`, work) : work()
  }

  async function resolveTemplate(caller: SignedIn, body: CreateAgent): Promise<ResolvedTemplate | null> {
    const templateName = templateNamed(body)
    return templateName === null
      ? null
      : templates.resolve(templateName, () => deps.gitTokenOf(caller.user.id))
  }

  /** Inserts row, port and key, or nothing. Of concurrent requests for one name, one succeeds. */
  async function register(
    tx: Tx,
    caller: SignedIn,
    { row, tags, quota, claim }: Registration,
  ): Promise<Agent> {
    const store = agentStore(tx)
    // First, so that a repeated request gets the stored reply instead of `agent_exists`.
    await claim?.take(tx, { resource_id: row.id })
    refuseOverQuota(caller, await store.countOwnedBy(caller.user.id), quota)
    if (!(await store.insert(row))) throw agentExists(row.name)
    const port = await lifecycle.ports.claim(tx, row.id)
    const { id, key } = await keys.mintAgentKey(tx, {
      agentId: row.id,
      ownerId: caller.user.id,
      name: `Agent ${row.name}`,
    })
    const sealed = vault.seal(key, agentKeyContext(row.id))
    await store.update(row.id, { port, agent_key_id: id, agent_key_sealed: sealed })
    await store.addTags(row.id, tags)
    agentRecords.changed(tx, row.id)
    const agent = await store.byId(row.id)
    if (!agent) throw new Fault('agent_not_found')
    return agent
  }

  async function startAndPublish(
    agent: Agent,
    caller: SignedIn,
    template: ResolvedTemplate | null,
    content: Content | undefined,
  ) {
    await content?.prepare?.(agent)
    const brought = await lifecycle.machine.bringUp(agent)
    const { agent: started, waiting } = brought
    if (content && waiting) throw new ContainerError('start_pending', waiting.reason)
    await content?.fill(started)
    return db.atomically(async (tx) => {
      if (!(await settleStart(tx, started, brought, 'creating'))) throw new Fault('agent_not_found')
      const now = clock.now()
      const ready = await agentStore(tx).byId(agent.id)
      if (!ready) throw new Fault('agent_not_found')
      const schedules = template?.schedules ?? []
      const facts = await hooks.created(tx, {
        agent: ready,
        ownerId: caller.user.id,
        schedules,
        skills: (template?.file.skills ?? []).map(({ name }) => name),
        credentialSetup: template?.file.credential_setup ?? [],
        now,
      })
      const more = (await content?.publish(tx, ready, now)) ?? {}
      facts.schedules_created += more.schedules_created ?? 0
      facts.warnings.push(...(more.warnings ?? []))
      const { name, type, status, port, created, cpu, memory } = ready
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
      return { ready, facts }
    })
  }

  async function undo(agentId: string): Promise<void> {
    const leftover = await db.atomically(async (tx) => {
      const current = await agentStore(tx).byId(agentId)
      if (!current) return null
      await keys.deleteAgentKeys(tx, agentId)
      return lifecycle.leftovers.deleteRows(tx, current)
    })
    if (leftover) await lifecycle.leftovers.clear(leftover)
  }

  return create
}

type Registration = {
  row: AgentsTable
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

/** The template name with its branch; null without a template. Throws `validation_error`. */
function templateNamed({ template, github_repo, source_branch }: CreateAgent): string | null {
  const templateName = template ?? (github_repo ? `github:${github_repo}` : null)
  if (templateName === null) return null
  if (template && github_repo && parseTemplateName(template)?.repository !== github_repo) {
    throw new Fault('validation_error', 'github_repo: must be the repository of template, or be left out.')
  }
  return atBranch(templateName, source_branch ?? null)
}

function leftOutWarnings(template: ResolvedTemplate | null): string[] {
  return (template?.git?.leftOut ?? []).map(
    (path) => `"${path}" is a submodule of the repository; its content is not in the workspace.`,
  )
}
