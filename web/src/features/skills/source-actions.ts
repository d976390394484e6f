import {
  type CreateSkillSource,
  createSkillSource,
  deleteSkillSource,
  type SkillSource,
  syncSkillLibrary,
  syncSkillSource,
  type UpdateSkillSource,
  updateSkillSource,
} from '@roost/contracts/skills/sources'
import { useMutation } from '@tanstack/react-query'
import { atField } from '../../lib/at-field.ts'
import { rowsOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { toast } from '../../ui/toast.tsx'
import { tellFault } from './actions.ts'
import { skillKeys } from './queries.ts'
import { syncWords } from './words.ts'

/** Reads one source anew, or with null all that are enabled. */
export function useSync() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: (id: string | null) =>
      id === null ? api.call(syncSkillLibrary, {}) : api.call(syncSkillSource, { params: { id } }),
    onSuccess: (sync) => void toast(syncWords(sync)),
    onError: tellFault,
    onSettled: () => queries.invalidateQueries({ queryKey: skillKeys.all }),
  })
}

/** Switches a source; shown at once and taken back when the platform refuses. */
export function useSourceSwitch() {
  const { api } = useApp()
  return useAtOnce({
    queryKey: skillKeys.all,
    save: ({ id, enabled }: { id: string; enabled: boolean }) =>
      api.call(updateSkillSource, { params: { id }, body: { enabled } }),
    shows: ({ id, enabled }) => [
      rowsOf<SkillSource>([...skillKeys.all, 'sources'], (row) => row.id === id, { enabled }),
    ],
  })
}

/** Registers a source, or changes what differs in one. Throws what the form shows on its fields. */
export function useSaveSource(stored: SkillSource | null) {
  const { api, queries } = useApp()
  return async (fields: CreateSkillSource): Promise<SkillSource> => {
    try {
      const saved =
        stored === null
          ? await api.call(createSkillSource, { body: fields })
          : await api.call(updateSkillSource, { params: { id: stored.id }, body: changedOf(stored, fields) })
      await queries.invalidateQueries({ queryKey: skillKeys.all })
      return saved
    } catch (error) {
      throw atField(error, { already_exists: 'name' })
    }
  }
}

function changedOf(stored: SkillSource, fields: CreateSkillSource): UpdateSkillSource {
  // The names of the fields are those of the source.
  const isSame = ([key, value]: [string, unknown]) => stored[key as keyof CreateSkillSource] === value
  return Object.fromEntries(Object.entries(fields).filter((field) => !isSame(field)))
}

export function useRemoveSource(onRemoved: () => void) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: ({ id }: SkillSource) => api.call(deleteSkillSource, { params: { id } }),
    onSuccess: (_reply, { name }) => {
      toast({ title: `The source “${name}” is removed.`, tone: 'success' })
      onRemoved()
    },
    onError: tellFault,
    onSettled: () => queries.invalidateQueries({ queryKey: skillKeys.all }),
  })
}
