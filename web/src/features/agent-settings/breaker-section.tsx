import { type CircuitBreaker, putCircuitBreaker, resetCircuitBreaker } from '@roost/contracts/runs/breaker'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { meQuery } from '../users/queries.ts'
import { breakerQuery } from './queries.ts'
import { SwitchRow } from './switch-row.tsx'
import { type SettingProps, useToggle } from './use-save.ts'

/** What stops an agent that only fails from being asked again and again. */
export function BreakerSection({ agent, isOwner }: SettingProps) {
  const { api, queries } = useApp()
  const { name } = agent
  const { data: me } = useSuspenseQuery(meQuery(api))
  const query = breakerQuery(api, name)
  const { data } = useSuspenseQuery(query)
  const toggle = useToggle(query.queryKey, agent, {
    save: (enabled) => api.call(putCircuitBreaker, { params: { name }, body: { enabled } }),
    shown: (enabled) => ({ enabled }),
    said: ({ enabled }) => `The breaker of ${name} is ${enabled ? 'on' : 'off'}.`,
  })
  const reset = useMutation({
    mutationFn: () => api.call(resetCircuitBreaker, { params: { name } }),
    onSuccess: () => void toast({ title: 'Both breakers are closed.', tone: 'success' }),
    onError: (error) => void toast({ title: error.message, tone: 'danger' }),
    onSettled: () => queries.invalidateQueries({ queryKey: query.queryKey }),
  })
  return (
    <Section
      title="Circuit breaker"
      description="After three runs in a row that fail for want of credentials or credit, new ones are refused for a while."
      actions={
        me.role === 'admin' ? (
          <Button size="sm" pending={reset.isPending} onClick={() => reset.mutate()}>
            Reset both breakers
          </Button>
        ) : null
      }
    >
      <SwitchRow
        label="Dispatch breaker"
        hint={data.warning ?? 'Acts while the platform’s own switch is on as well.'}
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
          {failure_count} in a row{retry_after_seconds === null ? '' : `, again in ${retry_after_seconds} s`}
        </span>
      </dd>
    </div>
  )
}
