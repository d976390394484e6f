import { putAgentDefaultResources, putMaxParallelTasksCeiling } from '@roost/contracts/foundation/settings'
import { useSuspenseQueries } from '@tanstack/react-query'
import { z } from 'zod'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { Form, FormError, NumberField, SelectField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { DiskDefaultSection } from './disk-default-section.tsx'
import { InnerNetworksSection } from './inner-networks-section.tsx'
import {
  ceilingQuery,
  defaultDiskQuery,
  defaultResourcesQuery,
  innerNetworksQuery,
  settingKeys,
} from './queries.ts'

/** Defaults of new agents and limits of all agents. */
export function AgentDefaultsTab() {
  const { api } = useApp()
  const [ceiling, resources, disk, inner] = useSuspenseQueries({
    queries: [ceilingQuery(api), defaultResourcesQuery(api), defaultDiskQuery(api), innerNetworksQuery(api)],
  })
  return (
    <>
      <CeilingSection {...ceiling.data} />
      <ResourcesSection {...resources.data} />
      <DiskDefaultSection {...disk.data} />
      <InnerNetworksSection {...inner.data} />
    </>
  )
}

function CeilingSection({ value, min, max }: { value: number; min: number; max: number }) {
  const { api, queries } = useApp()
  const form = useZodForm(z.object({ value: z.int().min(min).max(max) }), { values: { value } })
  return (
    <Section
      title="Parallel runs"
      description="The maximum number of parallel runs of any agent. It overrides higher values of an agent."
    >
      <Form
        form={form}
        onSubmit={async (body) => {
          const saved = await api.call(putMaxParallelTasksCeiling, { body })
          await storeReply(queries, settingKeys.ceiling, saved)
          toast({
            title: `Limit saved. Each agent can have at most ${saved.value} parallel runs.`,
            tone: 'success',
          })
        }}
      >
        <FormError />
        <NumberField
          name="value"
          label="Maximum parallel runs"
          hint={`${min} to ${max} runs`}
          min={min}
          max={max}
        />
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
      description="Existing agents keep their resources. You can change them in the settings of each agent."
    >
      <Form
        form={form}
        onSubmit={async (body) => {
          // Both values come from lists that the server allows.
          const saved = await api.call(putAgentDefaultResources, {
            body: body as { cpu: '1'; memory: string },
          })
          await storeReply(queries, settingKeys.resources, saved)
          toast({ title: 'Resources of new agents saved.', tone: 'success' })
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
