import { useState } from 'react'
import type { OfferedFile } from '../../../lib/dropped-files.ts'
import { plural } from '../../../lib/format.ts'
import { newKey } from '../../../lib/new-key.ts'
import { useApi } from '../../../shell/app-context.ts'
import { toast } from '../../../ui/toast.tsx'
import { ancestorsOf, parentOf } from '../paths.ts'
import { namesIn } from '../queries.ts'
import { showFault } from '../show-fault.ts'
import type { FileActions } from '../use-file-actions.ts'
import {
  checkOffered,
  foldersOf,
  type OnPresent,
  type PlannedFile,
  presentOf,
  resolvePresent,
} from './plan.ts'
import { useTransfers } from './use-transfers.ts'

const maxNamedRefusals = 3

type Question = {
  files: PlannedFile[]
  present: PlannedFile[]
  names: ReadonlyMap<string, ReadonlySet<string>>
}

/** Uploads into an agent's workspace. `question` waits for a decision about existing names. */
export function useUploads(agent: string, { settle }: Pick<FileActions, 'settle'>) {
  const api = useApi()
  const store = useTransfers()
  const [question, setQuestion] = useState<Question | null>(null)

  const begin = (files: readonly PlannedFile[]) =>
    store.add(
      agent,
      files.map((planned) => ({ id: newKey(), ...planned })),
    )

  async function offer(offered: Promise<OfferedFile[]> | OfferedFile[], folder: string): Promise<void> {
    try {
      const { files, refusals } = checkOffered(await offered, folder)
      if (refusals.length > 0) showRefusals(refusals)
      if (files.length === 0) return
      await settle(folder)
      const names = await namesByFolder(foldersOf(files))
      const present = presentOf(files, names)
      if (present.length > 0) setQuestion({ files, present, names })
      else begin(files)
    } catch (error) {
      showFault(error)
    }
  }

  /** Folders below a missing one are missing too. */
  async function namesByFolder(folders: readonly string[]) {
    const names = new Map<string, ReadonlySet<string>>()
    const isMissing = (folder: string) => ancestorsOf(folder).some((above) => names.get(above)?.size === 0)
    for (const folder of folders) {
      names.set(folder, isMissing(folder) ? new Set() : await namesIn(api, agent, folder))
    }
    return names
  }

  return {
    offer,
    /** Replaces one file without a question. */
    async replace(path: string, file: File): Promise<void> {
      const { files, refusals } = checkOffered([{ path, file }], '')
      if (refusals.length > 0) return showRefusals(refusals)
      await settle(parentOf(path))
      begin(files)
    },
    question,
    answer(choice: OnPresent): void {
      if (question) begin(resolvePresent(question.files, question.names, choice))
      setQuestion(null)
    },
    cancel: () => setQuestion(null),
  }
}

function showRefusals(refusals: readonly string[]): void {
  const further = refusals.length - maxNamedRefusals
  toast({
    title: `${plural(refusals.length, 'file')} not uploaded`,
    description: [
      ...refusals.slice(0, maxNamedRefusals),
      ...(further > 0 ? [`And ${plural(further, 'more file', 'more files')}.`] : []),
    ].join(' '),
    tone: 'warning',
  })
}
