import { ArchiveEnd, archiveMembers, maxManifestBytes } from '@roost/contracts/operations/agent-transfer'
import type { Avatars } from '../../agents/avatars/index.ts'
import type { EgressService } from '../../agents/egress/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import type { CallAgent } from '../../agents/rpc/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Assignments } from '../../skills/assignments/index.ts'
import type { Schedules } from '../../triggers/schedules/index.ts'
import type { Subscriptions } from '../../triggers/subscriptions/index.ts'
import { createGate } from './gate.ts'
import { openExport, type WorkspaceExport } from './link-files.ts'
import { manifestOf } from './manifest.ts'
import { encrypted } from './passphrase.ts'
import { type Bytes, createTarReader, createTarWriter } from './tar-stream.ts'

export type ExportDeps = {
  clock: Pick<Clock, 'now'>
  ask: CallAgent
  avatars: Pick<Avatars, 'stored'>
  egress: Pick<EgressService, 'view'>
  assignments: Pick<Assignments, 'of'>
  schedules: Pick<Schedules, 'list'>
  subscriptions: Pick<Subscriptions, 'list'>
  version: string
}

export type ExportRequest = {
  withCredentials: boolean
  /** Null: the archive is not encrypted. */
  passphrase: string | null
  signal: AbortSignal
}

export type Archive = { name: string; isEncrypted: boolean; bytes: Bytes }

const maxSubscriptions = 1000

/** Writes one agent as an archive, which is complete only with its last member. */
export function createExport(deps: ExportDeps) {
  const { clock, ask, avatars, egress, assignments, schedules, subscriptions, version } = deps

  async function manifestBytes(agent: Agent, caller: SignedIn, withCredentials: boolean): Promise<Buffer> {
    const manifest = manifestOf({
      agent,
      egress: await egress.view(agent),
      schedules: await schedules.list(agent),
      subscriptions: await subscriptions.list(caller, agent.id, {
        direction: 'subscriber',
        limit: maxSubscriptions,
      }),
      skills: await assignments.of(agent.id),
      withCredentials,
      version,
      now: clock.now(),
    })
    const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
    if (bytes.length <= maxManifestBytes) return bytes
    throw new Fault('file_too_large', `The settings and schedules have more than ${maxManifestBytes} bytes.`)
  }

  /** Throws `system_agent_protected`, `agent_stopped`, `agent_program_outdated`, `agent_unresponsive`, `conflict`. */
  return async function open(
    agent: Agent,
    caller: SignedIn,
    { withCredentials, passphrase, signal }: ExportRequest,
  ): Promise<Archive> {
    if (agent.is_system) throw new Fault('system_agent_protected')
    if (agent.status !== 'running')
      throw new Fault('agent_stopped', `Agent ${agent.name} is not running: start it, then export it.`)
    const manifest = await manifestBytes(agent, caller, withCredentials)
    const avatar = await avatars.stored(agent.id)
    const workspace = await openExport(ask, agent, withCredentials, signal)
    signal.addEventListener('abort', () => void workspace.close(), { once: true })
    const plain = archiveOf({ manifest, avatar, workspace, withCredentials, now: clock.now() })
    return {
      name: agent.name,
      isEncrypted: passphrase !== null,
      bytes: passphrase === null ? plain : await encrypted(plain, passphrase),
    }
  }
}

type Content = {
  manifest: Buffer
  avatar: Uint8Array | null
  workspace: WorkspaceExport
  withCredentials: boolean
  now: Date
}

async function* archiveOf(content: Content): AsyncGenerator<Buffer> {
  const { manifest, avatar, workspace, withCredentials, now } = content
  const seconds = Math.floor(now.getTime() / 1000)
  const writer = createTarWriter()
  try {
    yield writer.member(archiveMembers.manifest, manifest, seconds)
    if (avatar) yield writer.member(archiveMembers.avatar, Buffer.from(avatar), seconds)
    let files = 0
    // The program in a container is not trusted: it cannot put credentials into an archive that is not encrypted.
    const gate = createGate({ withCredentials, isTrusted: true, quotaBytes: 0 })
    const reader = createTarReader(workspace.pieces)
    for (let entry = await reader.next(); entry; entry = await reader.next()) {
      const isTaken = gate.judge(entry).verdict === 'take'
      if (isTaken) yield writer.header(entry)
      for await (const piece of reader.content()) if (isTaken) yield writer.content(piece)
      if (isTaken) yield writer.padding(entry)
      if (isTaken) files += 1
    }
    await reader.finish()
    const end = ArchiveEnd.parse({
      format: 'roost-agent-end',
      sha256: writer.digest(),
      files,
      unreadable: workspace.unreadable(),
    })
    yield writer.member(archiveMembers.end, Buffer.from(`${JSON.stringify(end)}\n`), seconds)
    yield writer.end()
  } finally {
    await workspace.close()
  }
}
