import {
  maxTimeoutSeconds,
  minTimeoutSeconds,
  putCapacity,
  putTimeout,
} from '@roost/contracts/agents/settings'
import { useSuspenseQueries } from '@tanstack/react-query'
import { z } from 'zod'
import { formatDuration, plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Form, FormError, NumberField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { capacityQuery, timeoutQuery } from './queries.ts'
import { type SettingProps, useSave } from './use-save.ts'

export function LimitsSection(props: SettingProps) {
  return (
    <Section title="Limits" description="The maximum duration of a run and the number of parallel runs.">
      <TimeoutForm {...props} />
      <CapacityForm {...props} />
    </Section>
  )
}

function TimeoutForm({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const query = timeoutQuery(api, agent.name)
  const [{ data }] = useSuspenseQueries({ queries: [query] })
  const schema = z.object({
    execution_timeout_seconds: z
      .int('Enter the timeout in whole seconds.')
      .min(minTimeoutSeconds)
      .max(maxTimeoutSeconds),
  })
  const form = useZodForm(schema, {
    values: { execution_timeout_seconds: data.execution_timeout_seconds },
  })
  const save = useSave(query.queryKey, agent, {
    save: (body: z.output<typeof schema>) => api.call(putTimeout, { params: { name: agent.name }, body }),
    message: ({ execution_timeout_seconds: seconds }) =>
      `Timeout set to ${formatDuration(seconds * 1000)} per run.`,
  })
  return (
    <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
      <FormError />
      <NumberField
        name="execution_timeout_seconds"
        label="Run timeout"
        unit="seconds"
        hint={`${minTimeoutSeconds} to ${maxTimeoutSeconds} seconds, currently ${formatDuration(data.execution_timeout_seconds * 1000)}. Must not be below the timeout of an active schedule.`}
        min={minTimeoutSeconds}
        max={maxTimeoutSeconds}
        disabled={!isOwner}
      />
      {isOwner ? <SaveRow form={form} /> : null}
    </Form>
  )
}

function CapacityForm({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const query = capacityQuery(api, agent.name)
  const [{ data }] = useSuspenseQueries({ queries: [query] })
  const schema = z.object({
    max_parallel_tasks: z.int('Enter a whole number of runs.').min(1).max(data.ceiling),
  })
  const form = useZodForm(schema, { values: { max_parallel_tasks: data.max_parallel_tasks } })
  const save = useSave(query.queryKey, agent, {
    save: (body: z.output<typeof schema>) => api.call(putCapacity, { params: { name: agent.name }, body }),
    message: ({ effective_max_parallel_tasks: limit }) => `At most ${plural(limit, 'parallel run')}.`,
  })
  const isClamped = data.effective_max_parallel_tasks < data.max_parallel_tasks
  return (
    <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
      <FormError />
      <NumberField
        name="max_parallel_tasks"
        label="Parallel runs"
        hint={
          isClamped
            ? `The platform limit is ${data.ceiling}, so ${data.effective_max_parallel_tasks} apply.`
            : `1 to ${data.ceiling} (platform limit). Currently ${data.active_slots} running, ${data.queued} queued.`
        }
        min={1}
        max={data.ceiling}
        disabled={!isOwner}
      />
      {isOwner ? <SaveRow form={form} /> : null}
    </Form>
  )
}
