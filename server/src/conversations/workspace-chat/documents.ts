import {
  maxDocumentBytes,
  maxInboxBytes,
  type WorkspaceDocument,
} from '@roost/contracts/conversations/workspace-documents'
import { shareOf } from '../../agents/access/index.ts'
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

/** Throws `workspace_read_only`. */
function requireWrite({ owns, email }: Principal, agent: Agent): void {
  if (owns === agent.owner_id) return
  if (email === null || shareOf(agent, email)?.access !== 'write') throw new Fault('workspace_read_only')
}

export type Documents = ReturnType<typeof createDocuments>

const folder = '/home/developer/uploads'

/** Files that people upload for an agent. The files are in its workspace; the database knows their owners. */
export function createDocuments({ db, clock, limits, workspace }: DocumentsDeps) {
  const store = workspaceStore(db)

  /** Throws `file_not_found`. */
  async function own(principal: Principal, agent: Agent, id: string): Promise<DocumentRow> {
    const document = (await store.documents(agent.id, principal.holder)).find((row) => row.id === id)
    if (!document) throw new Fault('file_not_found', 'There is no such document.')
    return document
  }

  return {
    list: async (principal: Principal, agent: Agent): Promise<WorkspaceDocument[]> =>
      (await store.documents(agent.id, principal.holder)).map(documentView),

    /** Throws `file_too_large`, `rate_limited`, and the faults of the workspace. */
    async upload(
      principal: Principal,
      agent: Agent,
      { body, contentType }: { body: Buffer; contentType: string | undefined },
      signal: AbortSignal,
    ): Promise<WorkspaceDocument> {
      requireWrite(principal, agent)
      await limits.use(rateRules.workspaceUpload, `${principal.holder}:${agent.id}`)
      const { name, bytes } = await fileOf(body, contentType)
      if (bytes.length > maxDocumentBytes) throw new Fault('file_too_large', 'A document has at most 25 MB.')
      await enforceInboxLimit(store, principal, agent, bytes.length)
      const stored = await workspace.upload(agent, `${folder}/${name}`, bytes, signal)
      const row = {
        id: newId(),
        agent_id: agent.id,
        holder_id: principal.holder,
        filename: stored.path.slice(stored.path.lastIndexOf('/') + 1),
        size_bytes: bytes.length,
        path: stored.path,
        created_at: timestamp(clock.now()),
      }
      try {
        await db.atomically(async (tx) => {
          // Checked again under the lock, because uploads may run concurrently.
          if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
          await enforceInboxLimit(workspaceStore(tx), principal, agent, bytes.length)
          // The path was free, so an older row for it is obsolete and must not refer to this file.
          await workspaceStore(tx).removeDocumentAt(agent.id, row.path)
          await workspaceStore(tx).addDocument(row)
        })
      } catch (error) {
        // Remove the file without owner; an unreachable agent keeps it.
        await workspace.remove(agent, { path: stored.path, isOwner: false }, signal).catch(() => {})
        throw error
      }
      return documentView(row)
    },

    async open(principal: Principal, agent: Agent, id: string, signal: AbortSignal) {
      const { path } = await own(principal, agent, id)
      const document = await workspace.open(
        agent,
        { path, isOwner: false, range: undefined, directories: false },
        signal,
      )
      if (document.kind !== 'file') throw new Fault('file_not_found')
      return document.opened
    },

    /** Also succeeds when the agent has removed the file already. */
    async remove(principal: Principal, agent: Agent, id: string, signal: AbortSignal): Promise<void> {
      const { path } = await own(principal, agent, id)
      requireWrite(principal, agent)
      await workspace.remove(agent, { path, isOwner: false }, signal).catch((error: unknown) => {
        if (!isFault(error, 'file_not_found')) throw error
      })
      await store.removeDocument(id)
    },
  }
}

/** Throws `file_too_large` when the person's documents would exceed the limit. */
async function enforceInboxLimit(
  store: Pick<ReturnType<typeof workspaceStore>, 'documents'>,
  principal: Principal,
  agent: Agent,
  bytes: number,
): Promise<void> {
  const documents = await store.documents(agent.id, principal.holder)
  const usedBytes = documents.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  if (usedBytes + bytes <= maxInboxBytes) return
  throw new Fault('file_too_large', 'Your documents with this agent would be more than 100 MB together.')
}

function documentView({ id, filename, size_bytes, path, created_at }: DocumentRow): WorkspaceDocument {
  return { id, filename, size_bytes, path, created_at }
}

/** Reads the single file of a multipart form. Throws `validation_error`. */
async function fileOf(
  body: Buffer,
  contentType: string | undefined,
): Promise<{ name: string; bytes: Buffer }> {
  const invalidForm = () => invalidField([], 'must be a multipart form with one file', 'form_type')
  if (!contentType?.toLowerCase().startsWith('multipart/form-data')) throw invalidForm()
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => {
      throw invalidForm()
    })
  const file = [...form.values()].find((value) => typeof value !== 'string')
  if (!file) throw invalidForm()
  return { name: cleanName(file.name), bytes: Buffer.from(await file.arrayBuffer()) }
}
