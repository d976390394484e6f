import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useApi } from '../../shell/app-context.ts'
import { joinPath } from '../workspace/paths.ts'
import { namesIn } from '../workspace/queries.ts'
import { freeName } from '../workspace/uploads/plan.ts'
import { useTransfers } from '../workspace/uploads/use-transfers.ts'
import type { WorkspaceFile } from './attachments.ts'
import { storedName, uploadsFolder } from './workspace-note.ts'

/** Writes files of a message to the workspace. */
export type MessageUploads = {
  /**
   * Uploads the files, and continues those that failed before. Returns their paths, or null unless all are stored.
   */
  store(files: readonly WorkspaceFile[]): Promise<readonly string[] | null>
  /** Cancels their uploads and removes them from the list. */
  forget(files: readonly WorkspaceFile[]): void
}

/** Null for people who may only read the workspace. */
export function useMessageUploads(agent: AgentDetails): MessageUploads | null {
  const api = useApi()
  const transfers = useTransfers()
  if (agent.workspace_access === 'read') return null
  const { name } = agent

  async function begin(files: readonly WorkspaceFile[]): Promise<void> {
    if (files.length === 0) return
    const taken = new Set(await namesIn(api, name, uploadsFolder))
    const planned = files.map(({ id, file, name: original }) => {
      const free = freeName(storedName(original), taken)
      taken.add(free)
      return { id, file, path: joinPath(uploadsFolder, free) }
    })
    transfers.add(name, planned)
  }
  return {
    async store(files) {
      const known = new Set(transfers.current().map(({ id }) => id))
      for (const { id } of files) transfers.retry(id)
      await begin(files.filter(({ id }) => !known.has(id)))
      const ended = await transfers.ended(files.map(({ id }) => id))
      const isStored = ended.length === files.length && ended.every(({ state }) => state === 'done')
      return isStored ? ended.map(({ path }) => path) : null
    },
    forget: (files) => transfers.remove(new Set(files.map(({ id }) => id))),
  }
}
