import type { CallReply } from '@roost/contracts/client'
import {
  type listFleetSchedules,
  pauseSchedules,
  recoverSchedule,
  resumeSchedules,
} from '@roost/contracts/triggers/schedule-admin'
import { disableSchedule, enableSchedule } from '@roost/contracts/triggers/schedules'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { changeOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import type { FleetRow } from './fleet-columns.tsx'
import { fleetSchedulesQuery } from './fleet-queries.ts'
import { scheduleKeys } from './queries.ts'

type Toggle = { row: FleetRow; enabled: boolean }

/** Switches one schedule of any agent optimistically. */
export function useFleetSwitch() {
  const { api, queries } = useApp()
  const { queryKey } = fleetSchedulesQuery(api)
  return useOptimisticSave({
    queryKey: scheduleKeys.fleet,
    save: ({ row: { id, agent_name: name }, enabled }: Toggle) =>
      api.call(enabled ? enableSchedule : disableSchedule, { params: { name, id } }),
    shows: ({ row: { id }, enabled }) => [
      changeOf<CallReply<typeof listFleetSchedules>>(queryKey, (now) => ({
        ...now,
        schedules: now.schedules.map((row) => (row.id === id ? { ...row, enabled } : row)),
      })),
    ],
    onSuccess: (_reply, { row }) =>
      void queries.invalidateQueries({ queryKey: scheduleKeys.ofAgent(row.agent_name) }),
  })
}

/** Pauses and resumes all schedules, and restores deleted ones. */
export function useFleetActions() {
  const { api, queries } = useApp()
  const shared = {
    onError: (error: unknown) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: scheduleKeys.fleet }),
  }
  const pause = useMutation({
    ...shared,
    mutationFn: async (to: 'pause' | 'resume'): Promise<string> => {
      const body = {}
      const { message } = await (to === 'pause'
        ? api.call(pauseSchedules, { body })
        : api.call(resumeSchedules, { body }))
      return message
    },
    onSuccess: (message) => void toast({ title: message, tone: 'success' }),
  })
  const recover = useMutation({
    ...shared,
    mutationFn: (id: string) => api.call(recoverSchedule, { params: { id } }),
    onSuccess: ({ name }) => void toast({ title: `“${name}” restored. It is disabled.`, tone: 'success' }),
  })
  return { pause, recover }
}
