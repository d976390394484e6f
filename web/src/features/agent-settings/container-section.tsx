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
import { IsolationForm } from './isolation-form.tsx'
import { capabilitiesQuery, resourcesQuery, runtimeQuery } from './queries.ts'
import { SwitchRow } from './switch-row.tsx'
import { type SettingProps, useSave, useToggle } from './use-save.ts'

const memoryChoices = Array.from({ length: 32 }, (_, index) => ({
  value: `${index + 1}g`,
  label: `${index + 1} GB`,
}))

/** Runtime, resources and capabilities of the container. Changes apply to the next start. */
export function ContainerSection(props: SettingProps) {
  const { agent } = props
  return (
    <Section
      title="Container"
      description="The environment of the agent. Changes apply after a restart. The workspace is kept."
    >
      {agent.needs_recreate && agent.status === 'running' ? (
        <Banner tone="warning" title="A restart is required to apply the new settings.">
          Stop and start the agent to apply: {agent.recreate_reasons.join(', ').replaceAll('_', ' ')}.
        </Banner>
      ) : null}
      <RuntimeForm {...props} />
      <ResourcesForm {...props} />
      <IsolationForm {...props} />
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
    // The API sets `codex` through a template only.
    save: ({ runtime }: z.output<typeof schema>) =>
      api.call(putRuntime, {
        params: { name: agent.name },
        body: { runtime: runtime === 'gemini-cli' ? 'gemini-cli' : 'claude-code' },
      }),
    message: ({ runtime, restart_needed }) =>
      restart_needed
        ? `Runtime saved. ${runtime} is used after the next start.`
        : `Runtime set to ${runtime}.`,
  })
  const options =
    data.runtime === 'codex'
      ? [...runtimeOptions, { value: 'codex', label: 'codex', hint: 'Set by the template', disabled: true }]
      : runtimeOptions
  return (
    <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
      <FormError />
      <SelectField
        name="runtime"
        label="Runtime"
        hint="The coding CLI of the agent. Changing it starts new conversations."
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
    message: ({ restart_needed }) =>
      restart_needed ? 'Resources saved. They apply after the next start.' : 'Resources saved.',
  })
  const now =
    data.restart_needed && data.current_cpu
      ? `Current container: ${data.current_cpu} CPU, ${data.current_memory} memory.`
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
  const [isConfirming, setConfirming] = useState(false)
  const query = capabilitiesQuery(api, agent.name)
  const [{ data }] = useSuspenseQueries({ queries: [query] })
  const toggle = useToggle(query.queryKey, agent, {
    save: (full_capabilities) =>
      api.call(putCapabilities, { params: { name: agent.name }, body: { full_capabilities } }),
    shown: (full_capabilities) => ({ full_capabilities }),
    message: ({ full_capabilities, restart_needed }) =>
      `Full capabilities turned ${full_capabilities ? 'on' : 'off'}${restart_needed ? '. Takes effect after the next start' : ''}.`,
  })
  return (
    <>
      <SwitchRow
        label="Full capabilities"
        hint="Lets the agent become root inside its container, for example to install packages. This weakens the isolation of the container."
        checked={data.full_capabilities}
        onCheckedChange={(isOn) => (isOn ? setConfirming(true) : toggle.mutate(false))}
        disabled={!isOwner}
      />
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title="Allow full capabilities?"
        description="The agent can become root inside its container. So can untrusted content that the agent reads from the internet."
        action="Allow full capabilities"
        onConfirm={() => {
          setConfirming(false)
          toggle.mutate(true)
        }}
      />
    </>
  )
}
