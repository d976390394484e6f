import { cpuChoices } from '@roost/contracts/agents/agent'
import { putCapabilities, putResources, putRuntime } from '@roost/contracts/agents/settings'
import { useSuspenseQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { z } from 'zod'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Form, FormError, SelectField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { capabilitiesQuery, resourcesQuery, runtimeQuery } from './queries.ts'
import { SwitchRow } from './switch-row.tsx'
import { type SettingProps, useSave, useToggle } from './use-save.ts'

const memoryChoices = Array.from({ length: 32 }, (_, index) => ({
  value: `${index + 1}g`,
  label: `${index + 1} GB`,
}))

/** What the container is made of; a change waits for the next start. */
export function ContainerSection(props: SettingProps) {
  const { agent } = props
  return (
    <Section
      title="Container"
      description="What the agent runs in. Changes take effect when it is started again; its workspace stays."
    >
      {agent.needs_recreate && agent.status === 'running' ? (
        <Banner tone="warning" title="The container is older than these settings.">
          Stop and start the agent to apply: {agent.recreate_reasons.join(', ').replaceAll('_', ' ')}.
        </Banner>
      ) : null}
      <RuntimeForm {...props} />
      <ResourcesForm {...props} />
      <CapabilitiesRow {...props} />
    </Section>
  )
}

const runtimeOptions = [
  { value: 'claude-code', label: 'claude-code', hint: 'Anthropic' },
  { value: 'gemini-cli', label: 'gemini-cli', hint: 'Google' },
] as const

function RuntimeForm({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const query = runtimeQuery(api, agent.name)
  const [{ data }] = useSuspenseQueries({ queries: [query] })
  const schema = z.object({ runtime: z.enum(['claude-code', 'gemini-cli', 'codex']) })
  const form = useZodForm(schema, { values: { runtime: data.runtime } })
  const save = useSave(query.queryKey, agent, {
    // `codex` comes from a template only, and is not offered.
    save: ({ runtime }: z.output<typeof schema>) =>
      api.call(putRuntime, {
        params: { name: agent.name },
        body: { runtime: runtime === 'gemini-cli' ? 'gemini-cli' : 'claude-code' },
      }),
    said: ({ runtime, restart_needed }) =>
      restart_needed ? `${runtime} runs after the next start.` : `The runtime is ${runtime}.`,
  })
  const options =
    data.runtime === 'codex'
      ? [...runtimeOptions, { value: 'codex', label: 'codex', hint: 'From the template', disabled: true }]
      : runtimeOptions
  return (
    <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
      <FormError />
      <SelectField
        name="runtime"
        label="Runtime"
        hint="The coding CLI that does the work. Conversations begin anew with another one."
        options={options}
        disabled={!isOwner}
      />
      {isOwner ? <SaveRow form={form} /> : null}
    </Form>
  )
}

function ResourcesForm({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const query = resourcesQuery(api, agent.name)
  const [{ data }] = useSuspenseQueries({ queries: [query] })
  const schema = z.object({ cpu: z.enum(cpuChoices), memory: z.string() })
  const cpu = cpuChoices.find((choice) => choice === data.cpu) ?? cpuChoices[0]
  const form = useZodForm(schema, { values: { cpu, memory: data.memory } })
  const save = useSave(query.queryKey, agent, {
    save: (body: z.output<typeof schema>) => api.call(putResources, { params: { name: agent.name }, body }),
    said: ({ restart_needed }) =>
      restart_needed ? 'Saved. It takes effect at the next start.' : 'The resources are saved.',
  })
  const now =
    data.restart_needed && data.current_cpu
      ? `The container has ${data.current_cpu} and ${data.current_memory} now.`
      : undefined
  return (
    <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
      <FormError />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          name="cpu"
          label="CPU"
          hint={now}
          options={cpuChoices.map((value) => ({
            value,
            label: `${value} ${value === '1' ? 'core' : 'cores'}`,
          }))}
          disabled={!isOwner}
        />
        <SelectField name="memory" label="Memory" options={memoryChoices} disabled={!isOwner} />
      </div>
      {isOwner ? <SaveRow form={form} /> : null}
    </Form>
  )
}

function CapabilitiesRow({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const [isAsked, setAsked] = useState(false)
  const query = capabilitiesQuery(api, agent.name)
  const [{ data }] = useSuspenseQueries({ queries: [query] })
  const toggle = useToggle(query.queryKey, agent, {
    save: (full_capabilities) =>
      api.call(putCapabilities, { params: { name: agent.name }, body: { full_capabilities } }),
    shown: (full_capabilities) => ({ full_capabilities }),
    said: ({ full_capabilities, restart_needed }) =>
      `Full capabilities are ${full_capabilities ? 'on' : 'off'}${restart_needed ? ' from the next start on' : ''}.`,
  })
  return (
    <>
      <SwitchRow
        label="Full capabilities"
        hint="Lets the agent become root inside its container, for example to install packages. It weakens the container as a boundary."
        checked={data.full_capabilities}
        onCheckedChange={(isOn) => (isOn ? setAsked(true) : toggle.mutate(false))}
        disabled={!isOwner}
      />
      <ConfirmDialog
        open={isAsked}
        onOpenChange={setAsked}
        title="Give the agent full capabilities?"
        description="It can become root inside its container. What it reads from the internet can then do so too."
        action="Give full capabilities"
        onConfirm={() => {
          setAsked(false)
          toggle.mutate(true)
        }}
      />
    </>
  )
}
