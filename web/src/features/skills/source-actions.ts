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
import { rowsOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { showFault } from './actions.ts'
import { skillKeys } from './queries.ts'
import { syncWords } from './words.ts'

/** Syncs one source, or with null all enabled ones. */
export function useSync() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: (id: string | null) =>
      id === null ? api.call(syncSkillLibrary, {}) : api.call(syncSkillSource, { params: { id } }),
    onSuccess: (sync) => void toast(syncWords(sync)),
    onError: showFault,
    onSettled: () => queries.invalidateQueries({ queryKey: skillKeys.all }),
  })
}

/** Switches a source optimistically. */
export function useSourceSwitch() {
  const { api } = useApp()
  return useOptimisticSave({
    queryKey: skillKeys.all,
    save: ({ id, enabled }: { id: string; enabled: boolean }) =>
      api.call(updateSkillSource, { params: { id }, body: { enabled } }),
    shows: ({ id, enabled }) => [
      rowsOf<SkillSource>([...skillKeys.all, 'sources'], (row) => row.id === id, { enabled }),
    ],
  })
}

/** Adds a source, or saves the changed fields of one. Throws the error for the form. */
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
  // The form fields have the names of the source's properties.
  const isSame = ([key, value]: [string, unknown]) => stored[key as keyof CreateSkillSource] === value
  return Object.fromEntries(Object.entries(fields).filter((field) => !isSame(field)))
}

export function useRemoveSource(onRemoved: () => void) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: ({ id }: SkillSource) => api.call(deleteSkillSource, { params: { id } }),
    onSuccess: (_reply, { name }) => {
      toast({ title: `Source “${name}” removed.`, tone: 'success' })
      onRemoved()
    },
    onError: showFault,
    onSettled: () => queries.invalidateQueries({ queryKey: skillKeys.all }),
  })
}
