import {
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  type Schedule,
  triggerSchedule,
  updateSchedule,
} from '@roost/contracts/triggers/schedules'
import { useMutation } from '@tanstack/react-query'
import { atField } from '../../lib/at-field.ts'
import { describeFault } from '../../lib/fault.ts'
import { partOf, rowsOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { scheduleKeys, scheduleQuery } from './queries.ts'
import { fieldOfCode, type ScheduleFields } from './schedule-fields.ts'

type Which = Pick<Schedule, 'id' | 'name'> & { agent_name: string }

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

function useStale(name: string) {
  const { queries } = useApp()
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: scheduleKeys.ofAgent(name) }),
      queries.invalidateQueries({ queryKey: scheduleKeys.fleet }),
    ])
}

/** Switches a schedule optimistically. */
export function useScheduleSwitch(name: string) {
  const { api } = useApp()
  return useOptimisticSave({
    queryKey: scheduleKeys.ofAgent(name),
    save: ({ id, enabled }: { id: string; enabled: boolean }) =>
      api.call(enabled ? enableSchedule : disableSchedule, { params: { name, id } }),
    shows: ({ id, enabled }) => [
      rowsOf<Schedule>(scheduleKeys.list(name), (row) => row.id === id, { enabled }),
      partOf<Schedule>(scheduleQuery(api, name, id).queryKey, { enabled }),
    ],
    stale: [scheduleKeys.fleet],
  })
}

/** Fires a schedule now; `open` shows the run. */
export function useTriggerSchedule(name: string, open: (executionId: string) => void) {
  const { api } = useApp()
  const stale = useStale(name)
  return useMutation({
    mutationFn: ({ id }: Which) => api.call(triggerSchedule, { params: { name, id } }),
    onSuccess: ({ schedule_name, execution_id }) => {
      toast({
        title: `“${schedule_name}” triggered.`,
        tone: 'success',
        action: { label: 'View run', onAction: () => open(execution_id) },
      })
    },
    onError: showFault,
    onSettled: stale,
  })
}

/** Creates a schedule, or saves the changed fields of one. Throws the error for the form. */
export function useSaveSchedule(name: string, stored: Schedule | null) {
  const { api } = useApp()
  const stale = useStale(name)
  return async (fields: ScheduleFields): Promise<Schedule> => {
    try {
      const saved =
        stored === null
          ? await api.call(createSchedule, { params: { name }, body: fields })
          : await api.call(updateSchedule, {
              params: { name, id: stored.id },
              body: changedOf(stored, fields),
            })
      await stale()
      return saved
    } catch (error) {
      throw atField(error, fieldOfCode)
    }
  }
}

/** Keeps changes that others have made meanwhile. */
function changedOf(stored: Schedule, fields: ScheduleFields): Partial<ScheduleFields> {
  const isSame = (key: string, value: unknown) =>
    // The form fields have the names of the schedule's properties.
    JSON.stringify(stored[key as keyof Schedule] ?? null) === JSON.stringify(value ?? null)
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => !isSame(key, value)))
}

/** Deletes schedules when the time for Undo has passed; `pending` has their IDs. */
export function useScheduleRemoval(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  const undo = useUndo()
  return {
    pending: undo.pending,
    remove: ({ id, name: title }: Pick<Schedule, 'id' | 'name'>) =>
      undo.later({
        id,
        title: `“${title}” deleted.`,
        description: 'It no longer fires, and its webhook is revoked.',
        run: async () => {
          try {
            await api.call(deleteSchedule, { params: { name, id } })
          } catch (error) {
            showFault(error)
          }
          await stale()
        },
      }),
  }
}
