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
import { partOf, rowsOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { scheduleKeys, scheduleQuery } from './queries.ts'
import { fieldOfCode, type ScheduleFields } from './schedule-fields.ts'

type Which = Pick<Schedule, 'id' | 'name'> & { agent_name: string }

function tellFault(error: unknown): void {
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

/** Switches a schedule; shown at once and taken back when the platform refuses. */
export function useScheduleSwitch(name: string) {
  const { api } = useApp()
  return useAtOnce({
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
        title: `“${schedule_name}” was triggered.`,
        tone: 'success',
        action: { label: 'Show the run', onAction: () => open(execution_id) },
      })
    },
    onError: tellFault,
    onSettled: stale,
  })
}

/** Makes a schedule, or changes what differs in one. Throws what the form shows on its fields. */
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

/** What others have changed meanwhile stays as it is. */
function changedOf(stored: Schedule, fields: ScheduleFields): Partial<ScheduleFields> {
  const isSame = (key: string, value: unknown) =>
    // The names of the fields are those of the schedule.
    JSON.stringify(stored[key as keyof Schedule] ?? null) === JSON.stringify(value ?? null)
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => !isSame(key, value)))
}

/** Deletes schedules once the time for Undo has passed; `pending` names those that are as good as gone. */
export function useScheduleRemoval(name: string) {
  const { api } = useApp()
  const stale = useStale(name)
  const undo = useUndo()
  return {
    pending: undo.pending,
    remove: ({ id, name: title }: Pick<Schedule, 'id' | 'name'>) =>
      undo.later({
        id,
        title: `“${title}” is deleted.`,
        description: 'It does not fire any more, and its webhook ends.',
        run: async () => {
          try {
            await api.call(deleteSchedule, { params: { name, id } })
          } catch (error) {
            tellFault(error)
          }
          await stale()
        },
      }),
  }
}
