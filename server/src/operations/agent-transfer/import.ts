import { CreateAgent } from '@roost/contracts/agents/registry'
import { megabyte } from '@roost/contracts/kit/primitives'
import { archivedFolder } from '@roost/contracts/link/transfer'
import {
  ArchiveEnd,
  archiveMembers,
  type ImportedAgent,
  type Manifest,
  maxManifestBytes,
  maxNamedFiles,
} from '@roost/contracts/operations/agent-transfer'
import { CreateSchedule } from '@roost/contracts/triggers/schedules'
import type { Avatars } from '../../agents/avatars/index.ts'
import type { Disk } from '../../agents/disk/index.ts'
import type { EgressService } from '../../agents/egress/index.ts'
import type { AgentManagement } from '../../agents/management/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import type { CallAgent } from '../../agents/rpc/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { archiveEnd, invalidArchive, paddingOf, shown, type TarEntry, writeHeader } from '../../kit/tar.ts'
import type { Assignments } from '../../skills/assignments/index.ts'
import type { Delivery } from '../../skills/delivery/index.ts'
import type { Schedules } from '../../triggers/schedules/index.ts'
import type { Subscriptions } from '../../triggers/subscriptions/index.ts'
import { createGate } from './gate.ts'
import { openImport, type WorkspaceImport } from './link-files.ts'
import { decrypted } from './passphrase.ts'
import { type ImportRequest, jsonOf, type Plan, parseManifest, planOf } from './rules.ts'
import { type Bytes, createTarReader, type TarReader } from './tar-stream.ts'

export type ImportDeps = {
  agentManagement: Pick<AgentManagement, 'create'>
  ask: CallAgent
  avatars: Pick<Avatars, 'restore'>
  disk: Pick<Disk, 'quotaFor'>
  egress: Pick<EgressService, 'restoreRules' | 'refuseUnenforceable'>
  /** Repeats what the connection of the program would have caused if the agent had been visible. */
  linkConnected(agentId: string): void
  assignments: Pick<Assignments, 'assignInitial'>
  delivery: Pick<Delivery, 'greeted'>
  schedules: Pick<Schedules, 'checkRestored' | 'restore'>
  subscriptions: Pick<Subscriptions, 'restore'>
}

export type Upload = { source: Bytes; passphrase: string | null; signal: AbortSignal }

type Filled = { files: number; untrusted: string[]; untrustedCount: number }

const maxEndBytes = 4096

/**
 * Creates an agent from an archive while that arrives. No caller sees the agent before the end of the archive was
 * reached and checked; a failure removes everything, as with any creation.
 */
export function createImport(deps: ImportDeps) {
  const { agentManagement, ask, avatars, disk, egress, assignments, delivery, schedules, subscriptions } =
    deps

  return async function importAgent(
    caller: SignedIn,
    request: ImportRequest,
    { source, passphrase, signal }: Upload,
  ): Promise<ImportedAgent> {
    const reader = createTarReader(await decrypted(source, passphrase))
    const manifest = await readManifest(reader)
    const plan = planOf(manifest, caller, request)
    const restored = plan.schedules.map(({ has_webhook: _, ...fields }) => CreateSchedule.parse(fields))
    schedules.checkRestored(manifest.agent.execution_timeout_seconds, restored)
    // An archive that asks for a closed network is never imported with an open one.
    if (plan.columns.egress_mode === 'enforce') await egress.refuseUnenforceable()
    let entry = await reader.next()
    let avatar: Buffer | null = null
    if (entry?.path === archiveMembers.avatar) {
      avatar = await reader.whole(entry, megabyte)
      entry = await reader.next()
    }
    const quotaBytes = disk.quotaFor(plan.columns.disk_quota_bytes ?? null)
    const gate = createGate({
      withCredentials: manifest.with_credentials,
      isTrusted: request.trust,
      quotaBytes,
    })
    let filled: Filled = { files: 0, untrusted: [], untrustedCount: 0 }

    const created = await agentManagement.create(caller, bodyOf(plan, manifest), undefined, {
      columns: plan.columns,
      async fill(agent) {
        const running = { ...agent, status: 'running' as const }
        const target = await openImport(ask, running, signal)
        try {
          filled = await unpack(reader, entry, { gate, target })
          await target.write(archiveEnd)
          await target.commit()
        } finally {
          await target.close()
        }
        // The entry of the platform's own tools in `.mcp.json` is that of the other installation.
        await ask(running, 'credentials.render', {}, signal)
      },
      async publish(tx, agent, now) {
        const by = { id: caller.user.id, username: caller.user.username }
        await schedules.restore(tx, agent, by, restored, now)
        await subscriptions.restore(tx, agent, by, ownSubscriptions(manifest), now)
        await egress.restoreRules(tx, agent.id, manifest.agent.egress.allowed, by.username, now)
        if (avatar) await avatars.restore(tx, agent.id, avatar)
        const names = manifest.skills.map(({ name }) => name)
        const { unknown } = await assignments.assignInitial(tx, agent, names, by.username)
        tx.onCommitted(() => arrived(agent, names.length > 0))
        return { schedules_created: restored.length, warnings: unknownSkills(manifest, unknown) }
      },
    })
    return replyOf(created, filled, plan)
  }

  function arrived({ id }: Agent, hasSkills: boolean): void {
    deps.linkConnected(id)
    if (hasSkills) delivery.greeted(id)
  }
}

async function readManifest(reader: TarReader): Promise<Manifest> {
  const entry = await reader.next()
  if (entry?.path !== archiveMembers.manifest || entry.type !== 'file')
    throw invalidArchive('This is not an archive of an agent: it does not begin with manifest.json.')
  return parseManifest(await reader.whole(entry, maxManifestBytes))
}

/** Sends the accepted entries, and checks the end of the archive. */
async function unpack(
  reader: TarReader,
  first: TarEntry | null,
  { gate, target }: { gate: ReturnType<typeof createGate>; target: WorkspaceImport },
): Promise<Filled> {
  const filled: Filled = { files: 0, untrusted: [], untrustedCount: 0 }
  let count = 0
  let entry = first
  for (; entry?.path.startsWith(archivedFolder); entry = await reader.next()) {
    const { inside, verdict } = gate.judge(entry)
    count += 1
    if (verdict === 'take') {
      filled.files += 1
      await target.write(writeHeader(entry))
    } else if (verdict === 'untrusted' && entry.type !== 'folder') {
      filled.untrustedCount += 1
      if (filled.untrusted.length < maxNamedFiles) filled.untrusted.push(shown(inside))
    }
    for await (const piece of reader.content()) if (verdict === 'take') await target.write(piece)
    if (verdict === 'take') await target.write(Buffer.alloc(paddingOf(entry.size)))
  }
  await checkEnd(reader, entry, count)
  return filled
}

async function checkEnd(reader: TarReader, entry: TarEntry | null, count: number): Promise<void> {
  if (!entry) throw invalidArchive('The archive is incomplete: end.json is missing.')
  if (entry.path !== archiveMembers.end || entry.type !== 'file')
    throw invalidArchive(`"${shown(entry.path)}" is not part of an archive of an agent.`)
  const found = reader.digestBefore()
  const end = ArchiveEnd.safeParse(jsonOf(await reader.whole(entry, maxEndBytes), archiveMembers.end))
  if (!end.success) throw invalidArchive('end.json is not valid.')
  const { sha256: expected, files } = end.data
  if (expected !== found || files !== count)
    throw invalidArchive('The archive was changed: its content does not match the checksum in end.json.')
  if ((await reader.next()) !== null) throw invalidArchive('The archive goes on after end.json.')
  await reader.finish()
}

function bodyOf(plan: Plan, { agent }: Manifest) {
  return CreateAgent.parse({
    name: plan.name,
    type: agent.type,
    runtime_model: agent.model,
    resources: { cpu: agent.cpu, memory: agent.memory },
    custom_instructions: agent.custom_instructions,
    label: agent.label,
    tags: plan.tags,
    full_capabilities: plan.fullCapabilities,
  })
}

function ownSubscriptions({ subscriptions }: Manifest) {
  return subscriptions.flatMap(({ source, event_type, target_message }) =>
    source.kind === 'agent' ? [] : [{ ofItself: source.kind === 'self', event_type, target_message }],
  )
}

function unknownSkills({ skills }: Manifest, unknown: readonly string[]): string[] {
  return skills
    .filter(({ name }) => unknown.includes(name))
    .map(({ name, source }) =>
      source === null
        ? `The library has no skill "${name}".`
        : `The library has no skill "${name}"; in the other installation it came from "${source}".`,
    )
}

function replyOf(
  created: Awaited<ReturnType<AgentManagement['create']>>,
  { files, untrusted, untrustedCount }: Filled,
  { warnings }: Plan,
): ImportedAgent {
  const { missing_credentials: _, schedule_errors: __, template_warnings: ___, ...row } = created
  return {
    ...row,
    files,
    untrusted_files: untrusted,
    untrusted_files_count: untrustedCount,
    warnings: [...warnings, ...created.warnings],
  }
}
