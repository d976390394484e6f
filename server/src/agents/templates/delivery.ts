import { fileChunkBytes, type Hello, templateAbility } from '@roost/contracts/link/messages'
import type { TemplateRead, TemplateReadAnswer } from '@roost/contracts/link/template'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import { createTurns, createTurnsByKey } from '../../kit/turns.ts'
import { type AgentLink, LinkFault } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import { ArchiveChanged, type FolderArchive, openFolderArchive } from './archive.ts'
import type { Templates } from './service.ts'

export type TemplateDelivery = {
  /**
   * A chunk of the agent's template for its first start. Throws `LinkFault` when it should ask again later. Alerts
   * people if the template no longer exists: the agent then starts without it.
   */
  read(agentId: string, request: Omit<TemplateRead, 't'>): Promise<TemplateReadAnswer>
  /** The agent's program says what it can do. */
  greeted(agentId: string, hello: Pick<Hello, 'abilities'>): void
  /** Alerts people if the agent's program was too old to ask for its template. */
  connected(agentId: string): Promise<void>
}

export type TemplateDeliveryDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'everyRow'>
  templates: Pick<Templates, 'folderFor'>
  /** Token for a private repository. */
  gitTokenOf(agent: Agent): Promise<Secret | null>
  link: Pick<AgentLink, 'call'>
  alerts: Pick<Alerts, 'raise'>
}

/** Agents that start together share one walk over the folder of their template. */
const reuseMs = 10_000
const maxOpened = 8
const maxConcurrentWalks = 2
const templateFile = '/home/developer/template.yaml'
const none: TemplateReadAnswer = { version: null, size: 0, data_base64: '' }

export function createTemplateDelivery(deps: TemplateDeliveryDeps): TemplateDelivery {
  const { db, clock, log, agentRecords, templates, link, alerts } = deps
  const opened = new Map<string, { archive: FolderArchive; at: number }>()
  const inTurn = createTurnsByKey()
  const walks = createTurns(maxConcurrentWalks)
  const outdated = new Set<string>()

  /** Includes agents whose creation is not finished. */
  const find = async (agentId: string) =>
    (await agentRecords.everyRow()).find(({ id }) => id === agentId) ?? null

  /** One that was opened before serves the chunks of its own version. */
  function archiveOf(folder: string, version: string | null): Promise<FolderArchive> {
    return walks(async () => {
      const known = opened.get(folder)
      const now = clock.now().getTime()
      if (known && (known.archive.version === version || now - known.at < reuseMs)) return known.archive
      const archive = await openFolderArchive(folder)
      opened.delete(folder)
      opened.set(folder, { archive, at: now })
      const [oldest] = opened.keys()
      if (opened.size > maxOpened && oldest !== undefined) opened.delete(oldest)
      return archive
    })
  }

  async function chunkOf(folder: string, { version, offset }: Omit<TemplateRead, 't'>) {
    const archive = await archiveOf(folder, version)
    const from = archive.version === version ? offset : 0
    const bytes = await archive.read(from, fileChunkBytes)
    return { version: archive.version, size: archive.size, data_base64: bytes.toString('base64') }
  }

  return {
    // In turn, so that an agent cannot make this process read many files at once.
    read: (agentId, request) =>
      inTurn(agentId, async () => {
        const agent = await find(agentId)
        // Another process may have created it a moment ago. Without its template it would stay empty for ever.
        if (!agent) throw new LinkFault({ code: 'io_error', message: 'The agent is not known here yet.' })
        if (agent.template === null) return none
        try {
          const folder = await templates.folderFor(agent, () => deps.gitTokenOf(agent))
          if (folder !== null) return await chunkOf(folder, request).catch(retryChanged(folder, request))
          await raise(missingAlert(agent, 'gone'))
          return none
        } catch (error) {
          log.warn({ err: error, agent: agent.name }, 'could not read a template; the agent asks again')
          throw new LinkFault({ code: 'io_error', message: 'The template cannot be read now.' })
        }
      }),

    greeted(agentId, { abilities = [] }) {
      if (abilities.includes(templateAbility)) outdated.delete(agentId)
      else outdated.add(agentId)
    },

    async connected(agentId) {
      const agent = outdated.has(agentId) ? await find(agentId) : null
      if (agent === null || agent.template === null || (await hasTemplate(agentId))) return
      await raise(missingAlert(agent, 'outdated'))
    },
  }

  function raise(alert: PlatformAlert): Promise<void> {
    return db.atomically((tx) => alerts.raise(tx, alert))
  }

  function retryChanged(folder: string, request: Omit<TemplateRead, 't'>) {
    return (error: unknown) => {
      if (!(error instanceof ArchiveChanged)) throw error
      opened.delete(folder)
      return chunkOf(folder, request)
    }
  }

  /** Every template has this file. The program answers after it has initialized the workspace. */
  async function hasTemplate(agentId: string): Promise<boolean> {
    try {
      await link.call(agentId, 'fs.stat', { path: templateFile })
      return true
    } catch (error) {
      if (error instanceof LinkFault && error.code === 'file_not_found') return false
      throw error
    }
  }
}

const whyMissing = {
  gone:
    'The template was deleted, or its repository is not accessible with the token of the agent. The workspace ' +
    'started empty. To use the template, make it accessible, delete the agent and create it again.',
  outdated:
    'Its image has a program of an earlier version of Roost, which cannot receive a template. Build the images of ' +
    'this version (./roost images) or update ROOST_AGENT_IMAGE, delete the agent and create it again.',
}

function missingAlert(
  agent: Pick<Agent, 'id' | 'name' | 'template'>,
  cause: keyof typeof whyMissing,
): PlatformAlert {
  return {
    agentId: agent.id,
    kind: 'template_missing',
    priority: 'high',
    title: `"${agent.name}" does not have the files of its template`,
    question: whyMissing[cause],
    context: { template: agent.template, cause },
  }
}
