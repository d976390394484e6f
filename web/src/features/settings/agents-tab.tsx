import { putAgentDefaultResources, putMaxParallelTasksCeiling } from '@roost/contracts/foundation/settings'
import { useSuspenseQueries } from '@tanstack/react-query'
import { z } from 'zod'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { Form, FormError, NumberField, SelectField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { ceilingQuery, defaultResourcesQuery, settingKeys } from './queries.ts'

/** What new agents get, and what holds for all of them. */
export function AgentDefaultsTab() {
  const { api } = useApp()
  const [ceiling, resources] = useSuspenseQueries({
    queries: [ceilingQuery(api), defaultResourcesQuery(api)],
  })
  return (
    <>
      <CeilingSection {...ceiling.data} />
      <ResourcesSection {...resources.data} />
    </>
  )
}

function CeilingSection({ value, min, max }: { value: number; min: number; max: number }) {
  const { api, queries } = useApp()
  const form = useZodForm(z.object({ value: z.int().min(min).max(max) }), { values: { value } })
  return (
    <Section
      title="Parallel tasks"
      description="The most runs that any agent may have at once, whatever it is set to itself."
    >
      <Form
        form={form}
        onSubmit={async (body) => {
          const saved = await api.call(putMaxParallelTasksCeiling, { body })
          await storeReply(queries, settingKeys.ceiling, saved)
          toast({ title: `No agent runs more than ${saved.value} at once.`, tone: 'success' })
        }}
      >
        <FormError />
        <NumberField name="value" label="Ceiling" hint={`${min} to ${max} runs`} min={min} max={max} />
        <SaveRow form={form} />
      </Form>
    </Section>
  )
}

type ResourcesProps = {
  cpu: string
  memory: string
  allowed_cpu: string[]
  min_memory: string
  max_memory: string
}

function ResourcesSection({ cpu, memory, allowed_cpu, min_memory, max_memory }: ResourcesProps) {
  const { api, queries } = useApp()
  const form = useZodForm(z.object({ cpu: z.string(), memory: z.string() }), { values: { cpu, memory } })
  return (
    <Section
      title="Resources of new agents"
      description="Agents that exist keep theirs; each can be changed in its own settings."
    >
      <Form
        form={form}
        onSubmit={async (body) => {
          // Both come from lists of what the server allows.
          const saved = await api.call(putAgentDefaultResources, {
            body: body as { cpu: '1'; memory: string },
          })
          await storeReply(queries, settingKeys.resources, saved)
          toast({ title: 'Saved. New agents get these resources.', tone: 'success' })
        }}
      >
        <FormError />
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            name="cpu"
            label="CPU"
            options={allowed_cpu.map((value) => ({
              value,
              label: `${value} ${value === '1' ? 'core' : 'cores'}`,
            }))}
          />
          <SelectField name="memory" label="Memory" options={memoryOptions(min_memory, max_memory)} />
        </div>
        <SaveRow form={form} />
      </Form>
    </Section>
  )
}

/** Whole gigabytes from `1g` to `32g`. */
export function memoryOptions(min: string, max: string): { value: string; label: string }[] {
  const [from, to] = [Number.parseInt(min, 10), Number.parseInt(max, 10)]
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    value: `${from + index}g`,
    label: `${from + index} GB`,
  }))
}
