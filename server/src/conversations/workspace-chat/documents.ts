import {
  maxDocumentBytes,
  maxInboxBytes,
  type WorkspaceDocument,
} from '@roost/contracts/conversations/workspace-documents'
import { type Agent, agentStore } from '../../agents/records/index.ts'
import type { Workspace } from '../../agents/workspace/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField, isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import { cleanName } from '../../runs/attachments/index.ts'
import type { Principal } from './principal.ts'
import { type DocumentRow, workspaceStore } from './store.ts'

export type DocumentsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  limits: Pick<RateLimits, 'use'>
  workspace: Pick<Workspace, 'upload' | 'open' | 'remove'>
}

export type Documents = ReturnType<typeof createDocuments>

const folder = '/home/developer/uploads'

/** Files that people give an agent. They lie in its workspace; here is known whose they are. */
export function createDocuments({ db, clock, limits, workspace }: DocumentsDeps) {
  const store = workspaceStore(db)

  /** Throws `file_not_found`. */
  async function own(who: Principal, agent: Agent, id: string): Promise<DocumentRow> {
    const found = (await store.documents(agent.id, who.holder)).find((row) => row.id === id)
    if (!found) throw new Fault('file_not_found', 'There is no such document.')
    return found
  }

  return {
    list: async (who: Principal, agent: Agent): Promise<WorkspaceDocument[]> =>
      (await store.documents(agent.id, who.holder)).map(shown),

    /** Throws `file_too_large`, `rate_limited`, and what a workspace throws. */
    async upload(
      who: Principal,
      agent: Agent,
      { body, contentType }: { body: Buffer; contentType: string | undefined },
      signal: AbortSignal,
    ): Promise<WorkspaceDocument> {
      await limits.use(rateRules.workspaceUpload, `${who.holder}:${agent.id}`)
      const { name, bytes } = await fileOf(body, contentType)
      if (bytes.length > maxDocumentBytes) throw new Fault('file_too_large', 'A document has at most 25 MB.')
      await refuseOverfull(store, who, agent, bytes.length)
      const placed = await workspace.upload(agent, `${folder}/${name}`, bytes, signal)
      const row = {
        id: newId(),
        agent_id: agent.id,
        holder_id: who.holder,
        filename: placed.path.slice(placed.path.lastIndexOf('/') + 1),
        size_bytes: bytes.length,
        path: placed.path,
        created_at: timestamp(clock.now()),
      }
      try {
        await db.atomically(async (tx) => {
          // Others may have been placed meanwhile: they are counted one after another.
          if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
          await refuseOverfull(workspaceStore(tx), who, agent, bytes.length)
          // Its place was free: what lay there before, of whomever, is gone, and is not to name this one.
          await workspaceStore(tx).forgetDocumentAt(agent.id, row.path)
          await workspaceStore(tx).addDocument(row)
        })
      } catch (error) {
        // Nobody's document is to lie there; an agent that is out of reach keeps it.
        await workspace.remove(agent, placed.path, signal).catch(() => {})
        throw error
      }
      return shown(row)
    },

    async open(who: Principal, agent: Agent, id: string, signal: AbortSignal) {
      const { path } = await own(who, agent, id)
      const found = await workspace.open(
        agent,
        { path, isOwner: false, range: undefined, directories: false },
        signal,
      )
      if (found.kind !== 'file') throw new Fault('file_not_found')
      return found.opened
    },

    /** One that the agent has removed already is gone as well. */
    async remove(who: Principal, agent: Agent, id: string, signal: AbortSignal): Promise<void> {
      const { path } = await own(who, agent, id)
      await workspace.remove(agent, path, signal).catch((error: unknown) => {
        if (!isFault(error, 'file_not_found')) throw error
      })
      await store.removeDocument(id)
    },
  }
}

/** Throws `file_too_large` when a file of so many bytes is too much with those that the person has there. */
async function refuseOverfull(
  store: Pick<ReturnType<typeof workspaceStore>, 'documents'>,
  who: Principal,
  agent: Agent,
  bytes: number,
): Promise<void> {
  const present = await store.documents(agent.id, who.holder)
  const held = present.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  if (held + bytes <= maxInboxBytes) return
  throw new Fault('file_too_large', 'Your documents with this agent would be more than 100 MB together.')
}

function shown({ id, filename, size_bytes, path, created_at }: DocumentRow): WorkspaceDocument {
  return { id, filename, size_bytes, path, created_at }
}

/** The one file of a multipart form. Throws `validation_error`. */
async function fileOf(
  body: Buffer,
  contentType: string | undefined,
): Promise<{ name: string; bytes: Buffer }> {
  const refused = () => invalidField([], 'must be a multipart form with one file', 'form_type')
  if (!contentType?.toLowerCase().startsWith('multipart/form-data')) throw refused()
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => {
      throw refused()
    })
  const file = [...form.values()].find((value) => typeof value !== 'string')
  if (!file) throw refused()
  return { name: cleanName(file.name), bytes: Buffer.from(await file.arrayBuffer()) }
}
