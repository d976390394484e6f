import { executionErrorCodes, executionStatuses, triggers } from '@roost/contracts/runs/executions'
import type { QueryKey } from '@roost/contracts/runs/run-query'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useApi } from '../../../shell/app-context.ts'
import { agentsQuery } from '../../agents/queries.ts'
import { type RunFilter, runsQuery } from '../queries.ts'
import { errorWords, statusWords, triggerWords } from '../words.ts'
import type { QueryValue } from './complete.ts'

const plain = (values: Iterable<string>): QueryValue[] =>
  [...new Set(values)].sort().map((value) => ({ value }))

/** The values of filters to suggest. Models and people are those of the runs that are shown. */
export function useQueryValues(filter: RunFilter): (key: QueryKey) => readonly QueryValue[] {
  const api = useApi()
  const agents = useQuery(agentsQuery(api)).data
  const rows = useQuery(runsQuery(api, filter, 1)).data?.rows
  return useMemo(() => {
    const shown = (pick: (row: NonNullable<typeof rows>[number]) => string | null) =>
      plain((rows ?? []).flatMap((row) => pick(row) ?? []))
    const values: Record<QueryKey, readonly QueryValue[]> = {
      agent: (agents ?? []).map(({ name, label }) => ({ value: name, ...(label ? { hint: label } : {}) })),
      status: executionStatuses.map((value) => ({ value, hint: statusWords[value].label })),
      trigger: triggers.map((value) => ({ value, hint: triggerWords[value] })),
      error: [
        ...executionErrorCodes.map((value) => ({ value, hint: errorWords[value].title })),
        { value: '', hint: 'No error code' },
      ],
      model: [...shown((row) => row.model_used), { value: '', hint: 'No model' }],
      person: [...shown((row) => row.source_user_email), { value: '', hint: 'No person' }],
      tag: [...plain((agents ?? []).flatMap(({ tags }) => tags)), { value: '', hint: 'No tag' }],
      cost: [
        { value: '>0.1', hint: 'More than $0.10' },
        { value: '>1', hint: 'More than $1' },
        { value: '0.1..1', hint: 'From $0.10 to $1' },
      ],
      tokens: [
        { value: '>50k', hint: 'More than 50,000' },
        { value: '>1M', hint: 'More than 1 million' },
      ],
      duration: [
        { value: '>30s', hint: 'Longer than 30 seconds' },
        { value: '>5m', hint: 'Longer than 5 minutes' },
        { value: '>1h', hint: 'Longer than 1 hour' },
      ],
      since: [
        { value: '1h', hint: 'The last hour' },
        { value: '2d', hint: 'The last 2 days' },
        { value: '7d', hint: 'The last 7 days' },
        { value: '30d', hint: 'The last 30 days' },
        { value: 'all', hint: 'All time' },
      ],
      until: [],
    }
    return (key) => values[key]
  }, [agents, rows])
}
