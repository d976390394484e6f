import type { Client } from '@roost/contracts/client'
import {
  type AttemptSet,
  type AttemptSetStatus,
  type AttemptsBody,
  cancelAttempts,
  deleteAttempts,
  discardAttempts,
  getAttempts,
  keepAttempt,
  listAttempts,
  startAttempts,
} from '@roost/contracts/runs/attempts'
import { queryOptions } from '@tanstack/react-query'
import { ofAgent, staleOn } from '../../live/stale.ts'

export const attemptKeys = {
  ofAgent: (name: string) => ['agent', name, 'attempts'] as const,
}

staleOn(['attempts_changed'], ofAgent(attemptKeys.ofAgent))

const open: readonly AttemptSetStatus[] = ['recording', 'working', 'keeping']
/** Costs grow without an event. */
const paceMs = 5000

export const isWorking = (status: AttemptSetStatus) => open.includes(status)

export const attemptSetsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...attemptKeys.ofAgent(name), 'list'],
    queryFn: ({ signal }) => api.call(listAttempts, { params: { name }, query: { limit: '100' }, signal }),
  })

export const attemptSetQuery = (api: Client, name: string, set: string) =>
  queryOptions({
    queryKey: [...attemptKeys.ofAgent(name), set],
    queryFn: ({ signal }) => api.call(getAttempts, { params: { name, set }, signal }),
    refetchInterval: ({ state }) => (state.data && isWorking(state.data.status) ? paceMs : false),
  })

type StartBody = Pick<AttemptsBody, 'messages'> & Partial<AttemptsBody>

export const beginAttempts = (api: Client, name: string, body: StartBody): Promise<AttemptSet> =>
  api.call(startAttempts, { params: { name }, body })

export type KeepChoice = { attempt: number; on_conflict: 'refuse' | 'overwrite'; when_busy: 'wait' | 'stop' }

export const keepOne = (api: Client, name: string, set: string, body: KeepChoice) =>
  api.call(keepAttempt, { params: { name, set }, body })

export const endSet = (
  api: Client,
  name: string,
  set: string,
  act: 'cancel' | 'discard',
): Promise<AttemptSet> =>
  api.call(act === 'cancel' ? cancelAttempts : discardAttempts, { params: { name, set } })

export const removeSet = (api: Client, name: string, set: string) =>
  api.call(deleteAttempts, { params: { name, set } })
