import { type ExecutionDetails, terminateExecution } from '@roost/contracts/runs/executions'
import type { FanOutBody } from '@roost/contracts/runs/fan-out'
import { startFanOut } from '@roost/contracts/runs/fan-out'
import { clearQueue } from '@roost/contracts/runs/queue'
import type { AcceptedTask, TaskBody } from '@roost/contracts/runs/tasks'
import { runTask } from '@roost/contracts/runs/tasks'
import { useMutation } from '@tanstack/react-query'
import type { z } from 'zod'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { newKey } from '../../lib/new-key.ts'
import { type App, useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { runKeys } from './queries.ts'
import { requestOf } from './run-acts.ts'
import { terminatedWords } from './words.ts'

/** Stops a run in any state and reports the outcome. */
export function useStop(name: string) {
  const app = useApp()
  return useMutation({
    mutationFn: (id: string) => app.api.call(terminateExecution, { params: { name, id } }),
    onSuccess: (reply) => {
      const isTooLate = reply.status === 'already_finished'
      toast({ title: terminatedWords(reply), tone: isTooLate ? 'neutral' : 'success' })
    },
    onError: showFault,
    onSettled: (_reply, _error, id) => refresh(app, name, id),
  })
}

export type TaskInput = Omit<z.input<typeof TaskBody>, 'async_mode'>

/** Sends a task without waiting for its result. A repeated call with the same key counts once. */
export function useSendTask(name: string) {
  const app = useApp()
  return useMutation({
    mutationFn: async ({ key, ...body }: TaskInput & { key: string }) => {
      const reply = await app.api.call(runTask, {
        params: { name },
        body: { ...body, async_mode: true },
        headers: { 'idempotency-key': key },
      })
      // The API answers an asynchronous task with its receipt.
      return reply as AcceptedTask
    },
    onSettled: () => refresh(app, name),
  })
}

/** Repeats a run as a new one, without its files, which are deleted when a run ends. */
export function useRunAgain(name: string, onBegun: (id: string) => void) {
  const send = useSendTask(name)
  return {
    isPending: send.isPending,
    run: (run: ExecutionDetails) =>
      send.mutate(
        { ...requestOf(run), key: newKey() },
        { onSuccess: ({ execution_id }) => onBegun(execution_id), onError: showFault },
      ),
  }
}

export type FanOutInput = Omit<z.input<typeof FanOutBody>, 'async_mode'>

export function useStartFanOut(name: string) {
  const app = useApp()
  return useMutation({
    mutationFn: ({ key, ...body }: FanOutInput & { key: string }) =>
      app.api.call(startFanOut, {
        params: { name },
        body: { ...body, async_mode: true },
        headers: { 'idempotency-key': key },
      }),
    onSettled: () => refresh(app, name),
  })
}

/** Cancels all queued runs of the agent. */
export function useClearQueue(name: string) {
  const app = useApp()
  return useMutation({
    mutationFn: () => app.api.call(clearQueue, { params: { name } }),
    onSuccess: ({ cancelled }) =>
      void toast({ title: `${plural(cancelled, 'queued run')} cancelled.`, tone: 'success' }),
    onError: showFault,
    onSettled: () => refresh(app, name),
  })
}

export function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

function refresh({ queries }: App, name: string, id?: string): Promise<unknown> {
  const keys: (readonly unknown[])[] = [runKeys.fleet, runKeys.ofAgent(name)]
  if (id !== undefined) keys.push(runKeys.one(id))
  return Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })))
}
