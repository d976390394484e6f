import { type CircuitBreaker, putCircuitBreaker, resetCircuitBreaker } from '@roost/contracts/runs/breaker'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { meQuery } from '../users/queries.ts'
import { breakerQuery } from './queries.ts'
import { SwitchRow } from './switch-row.tsx'
import { type SettingProps, useToggle } from './use-save.ts'

/** Stops dispatching runs to an agent that keeps failing. */
export function BreakerSection({ agent, isOwner }: SettingProps) {
  const { api, queries } = useApp()
  const { name } = agent
  const { data: me } = useSuspenseQuery(meQuery(api))
  const query = breakerQuery(api, name)
  const { data } = useSuspenseQuery(query)
  const toggle = useToggle(query.queryKey, agent, {
    save: (enabled) => api.call(putCircuitBreaker, { params: { name }, body: { enabled } }),
    shown: (enabled) => ({ enabled }),
    message: ({ enabled }) => `Circuit breaker of ${name} turned ${enabled ? 'on' : 'off'}.`,
  })
  const reset = useMutation({
    mutationFn: () => api.call(resetCircuitBreaker, { params: { name } }),
    onSuccess: () => void toast({ title: 'Both circuit breakers are closed.', tone: 'success' }),
    onError: (error) => void toast({ title: error.message, tone: 'danger' }),
    onSettled: () => queries.invalidateQueries({ queryKey: query.queryKey }),
  })
  return (
    <Section
      title="Circuit breaker"
      description="Refuses new runs for a while after three consecutive runs failed for missing credentials or credit."
      actions={
        me.role === 'admin' ? (
          <Button size="sm" pending={reset.isPending} onClick={() => reset.mutate()}>
            Reset circuit breakers
          </Button>
        ) : null
      }
    >
      <SwitchRow
        label="Circuit breaker"
        hint={
          data.warning ??
          'Takes effect only while the circuit breaker is also enabled in the platform settings.'
        }
        checked={data.enabled}
        onCheckedChange={(isOn) => toggle.mutate(isOn)}
        disabled={!isOwner}
      />
      <dl className="grid gap-x-8 gap-y-2 text-sm sm:grid-cols-2">
        <State label="Runs" breaker={data.dispatch} />
        <State label="Connection" breaker={data.transport} />
      </dl>
    </Section>
  )
}

const tones = { closed: 'success', half_open: 'warning', open: 'danger' } as const
const words = { closed: 'closed', half_open: 'half open', open: 'open' } as const

function State({ label, breaker }: { label: string; breaker: CircuitBreaker['dispatch'] }) {
  const { state, failure_count, retry_after_seconds } = breaker
  return (
    <div className="flex flex-wrap items-center gap-2">
      <dt className="text-muted">{label}</dt>
      <dd className="flex items-center gap-2">
        <Badge tone={tones[state]}>{words[state]}</Badge>
        <span className="text-faint text-xs">
          {plural(failure_count, 'consecutive failure')}
          {retry_after_seconds === null ? '' : `, next attempt in ${retry_after_seconds} s`}
        </span>
      </dd>
    </div>
  )
}
