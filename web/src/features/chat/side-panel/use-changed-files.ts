import type { RunChanges } from '@roost/contracts/agents/workspace-history'
import type { ExecutionLog } from '@roost/contracts/runs/executions'
import { type UseQueryResult, useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useApi } from '../../../shell/app-context.ts'
import { runChangesQuery } from '../../history/queries.ts'
import { transcriptOf } from '../../transcripts/transcript-of.ts'
import type { LiveTurn, LiveTurns } from '../live-turns.ts'
import { logQuery, messagesQuery } from '../queries.ts'
import { isOpen, type Turn, turnsOf } from '../turns-of.ts'
import { useTurnsOf } from '../use-live-turns.ts'
import { changedFiles, mayChangeFiles, type RunSteps } from './changed-files.ts'

/** Transcripts are long, so the newest runs are read first. */
const runsPerStep = 20

/** The files that a conversation changed: from the records of its runs, else from their transcripts. */
export function useChangedFiles(agentName: string, sessionId: string | null, turns: LiveTurns) {
  const api = useApi()
  const messages = useInfiniteQuery({
    ...messagesQuery(api, agentName, sessionId ?? ''),
    enabled: sessionId !== null,
  })
  const stored = useMemo(
    () => turnsOf((messages.data?.pages ?? []).toReversed().flatMap((page) => page.messages)),
    [messages.data],
  )
  const live = useTurnsOf(turns, sessionId)
  const [count, setCount] = useState(runsPerStep)
  const ids = idsOf(stored, live)
  const changes = useQueries({
    queries: ids.slice(-count).map((id) => runChangesQuery(api, id)),
    combine: recordedOf,
  })
  const recorded = new Set(changes.recorded.map(({ execution_id }) => execution_id))
  const runs = runsToRead(stored, live)
  const read = runs.slice(-count).filter(({ executionId }) => !recorded.has(executionId))
  const logs = useQueries({
    queries: read.map(({ executionId, steps }) => ({
      ...logQuery(api, agentName, executionId),
      enabled: steps === null && !changes.isLoading,
      select: stepsOfLog,
    })),
    combine: combined,
  })
  const files = changedFiles(
    read.map(({ executionId, steps }, index) => ({ executionId, steps: steps ?? logs.steps[index] ?? [] })),
  )
  const { hasNextPage } = messages
  return {
    files,
    /** Changes of runs with records, the newest first. */
    recorded: changes.recorded.toReversed(),
    isLoading:
      (sessionId !== null && messages.isPending) ||
      messages.isFetchingNextPage ||
      changes.isLoading ||
      logs.isLoading,
    error: (messages.data ? null : messages.error) ?? logs.error,
    retry: () => {
      if (!messages.data) void messages.refetch()
      logs.retry()
    },
    isRemoved: logs.isRemoved,
    /** Null: all runs of the conversation are read. */
    onEarlier:
      ids.length > count || hasNextPage
        ? () => {
            setCount(count + runsPerStep)
            if (ids.length <= count + runsPerStep && hasNextPage) void messages.fetchNextPage()
          }
        : null,
  }
}

/** All runs of a conversation, oldest first. */
function idsOf(stored: readonly Turn[], live: readonly LiveTurn[]): string[] {
  const all = [...stored, ...live].map(({ executionId }) => executionId)
  return [...new Set(all.filter((id) => id !== null))]
}

/** A run without an answer to this question is read from its transcript. */
function recordedOf(results: UseQueryResult<RunChanges>[]) {
  return {
    recorded: results.flatMap(({ data }) => (data?.status === 'recorded' ? [data] : [])),
    isLoading: results.some(({ isLoading }) => isLoading),
  }
}

type RunToRead = { executionId: string; steps: RunSteps['steps'] | null }

/** The runs of a conversation that may have changed files, oldest first; with the steps that this page has read. */
function runsToRead(stored: readonly Turn[], live: readonly LiveTurn[]): RunToRead[] {
  const known = new Set(stored.map(({ executionId }) => executionId))
  const stepsOf = (executionId: string) => {
    const turn = live.find((each) => each.executionId === executionId)
    return turn && turn.transcript.lastLine > 0 ? turn.transcript.steps : null
  }
  return [
    ...stored.flatMap((turn) => {
      const { executionId, answer } = turn
      if (executionId === null) return []
      const steps = stepsOf(executionId)
      // A run without an answer failed or was stopped, perhaps after a change.
      const isWorthReading = answer ? mayChangeFiles(answer.tool_calls) : !isOpen(turn)
      return steps || isWorthReading ? [{ executionId, steps }] : []
    }),
    ...live.flatMap(({ executionId }) => {
      const steps = executionId === null || known.has(executionId) ? null : stepsOf(executionId)
      return executionId !== null && steps ? [{ executionId, steps }] : []
    }),
  ]
}

const stepsOfLog = ({ log, log_removed_at }: ExecutionLog) => ({
  steps: transcriptOf(log).steps,
  isRemoved: log_removed_at !== null,
})

function combined(results: UseQueryResult<ReturnType<typeof stepsOfLog>>[]) {
  const failed = results.filter(({ isError, data }) => isError && !data)
  return {
    steps: results.map(({ data }) => data?.steps),
    isLoading: results.some(({ isLoading }) => isLoading),
    isRemoved: results.some(({ data }) => data?.isRemoved),
    error: failed[0]?.error ?? null,
    retry: () => {
      for (const each of failed) void each.refetch()
    },
  }
}
