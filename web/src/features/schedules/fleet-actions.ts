import { pauseSchedules, recoverSchedule, resumeSchedules } from '@roost/contracts/triggers/schedule-admin'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { scheduleKeys } from './queries.ts'

/** Pauses and resumes all schedules, and brings deleted ones back. */
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
    onSuccess: ({ name }) => void toast({ title: `“${name}” is back, switched off.`, tone: 'success' }),
  })
  return { pause, recover }
}
