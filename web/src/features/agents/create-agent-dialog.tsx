import { cpuChoices, type Resources } from '@roost/contracts/agents/agent'
import { CreateAgent, type CreatedAgent, createAgent } from '@roost/contracts/agents/registry'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { atField } from '../../lib/at-field.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, SelectField, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { defaultResourcesQuery } from '../settings/queries.ts'
import { templatesQuery } from '../templates/queries.ts'
import { agentKeys } from './queries.ts'

export type CreateAgentProps = { open: boolean; onOpenChange(open: boolean): void; template?: string }

export function CreateAgentDialog({ open, onOpenChange, template }: CreateAgentProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create agent"
      description="The agent gets its own container and workspace and starts immediately."
    >
      <CreateAgentForm template={template} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

function CreateAgentForm({ template, onClose }: { template?: string; onClose(): void }) {
  const { api, queries } = useApp()
  const navigate = useNavigate()
  const [isMore, setMore] = useState(false)
  const form = useZodForm(CreateAgent, {
    defaultValues: {
      name: '',
      template: template ?? null,
      runtime: null,
      runtime_model: null,
      resources: null,
      custom_instructions: null,
      label: null,
    },
  })

  async function create(body: z.output<typeof CreateAgent>): Promise<void> {
    const created = await api.call(createAgent, { body }).catch((error: unknown) => {
      throw atField(error, fieldOfCode)
    })
    await queries.invalidateQueries({ queryKey: agentKeys.list })
    onClose()
    const show = (tab: 'chat' | 'info') =>
      navigate({ to: '/agents/$name', params: { name: created.name }, search: { tab } })
    const description = remarks(created)
    toast({
      title: `${created.label ?? created.name} is running.`,
      description,
      tone: description === undefined ? 'success' : 'warning',
      ...(created.template_warnings.length > 0
        ? { action: { label: 'Show template', onAction: () => void show('info') } }
        : {}),
    })
    await show('chat')
  }

  return (
    <Form form={form} onSubmit={create}>
      <FormError />
      <TextField
        name="name"
        label="Name"
        hint="Lower-case letters, digits and hyphens. The name is part of the agent’s URLs."
        placeholder="scout"
        required
        autoFocus
        autoComplete="off"
        spellCheck={false}
      />
      <TemplateField />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          name="runtime"
          label="Runtime"
          placeholder="Set by the template"
          options={[
            { value: 'claude-code', label: 'claude-code', hint: 'Anthropic' },
            { value: 'gemini-cli', label: 'gemini-cli', hint: 'Google' },
          ]}
        />
        <TextField
          name="runtime_model"
          label="Model"
          placeholder="Default"
          hint="For example “sonnet” or “gemini-2.5-pro”"
          emptyAs="null"
        />
      </div>
      {isMore ? (
        <MoreFields />
      ) : (
        <div>
          <Button
            variant="ghost"
            size="sm"
            icon={<ChevronDown />}
            onClick={() => setMore(true)}
            className="-ml-2"
          >
            Label, resources, instructions
          </Button>
        </div>
      )}
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Create and start
        </Button>
      </DialogButtons>
    </Form>
  )
}

/** Fields of error codes that do not name one. */
const fieldOfCode = {
  agent_exists: 'name',
  reserved_agent_name: 'name',
  template_not_found: 'template',
  template_unresolvable: 'template',
  upstream_error: 'template',
}

function TemplateField() {
  const { api } = useApp()
  const { data: templates = [] } = useQuery(templatesQuery(api))
  const chosen = useWatch<{ template: string | null }, 'template'>({ name: 'template' })
  // A template from a repository URL is not in the list.
  const isUnlisted = chosen !== null && !templates.some(({ id }) => id === chosen)
  if (templates.length === 0 && !isUnlisted) return null
  const listed = templates.map(({ id, display_name, description }) => ({
    value: id,
    label: display_name,
    hint: description,
  }))
  return (
    <SelectField
      name="template"
      label="Template"
      placeholder="None (empty workspace)"
      options={isUnlisted ? [{ value: chosen, label: chosen }, ...listed] : listed}
    />
  )
}

function MoreFields() {
  const { api } = useApp()
  const { data: defaults } = useQuery({ ...defaultResourcesQuery(api), retry: false })
  const ofDefault = (what: keyof z.output<typeof Resources>) =>
    defaults ? `Default (${defaults[what]})` : 'Default'
  return (
    <>
      <TextField name="label" label="Label" hint="Shown instead of the name" emptyAs="null" />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          name="resources.cpu"
          label="CPU"
          placeholder={ofDefault('cpu')}
          options={cpuChoices.map((value) => ({
            value,
            label: `${value} ${value === '1' ? 'core' : 'cores'}`,
          }))}
        />
        <SelectField
          name="resources.memory"
          label="Memory"
          placeholder={ofDefault('memory')}
          options={Array.from({ length: 32 }, (_, index) => ({
            value: `${index + 1}g`,
            label: `${index + 1} GB`,
          }))}
        />
      </div>
      <TextareaField
        name="custom_instructions"
        label="Instructions"
        hint="Added to the system prompt: the role and the purpose of the agent"
        rows={4}
        emptyAs="null"
      />
    </>
  )
}

type Remarks = Pick<
  z.output<typeof CreatedAgent>,
  'missing_credentials' | 'schedule_errors' | 'template_warnings' | 'warnings'
>

/** What the owner should know about the new agent; undefined if there is nothing. */
function remarks(created: Remarks): string | undefined {
  const missing =
    created.missing_credentials.length > 0 &&
    `Missing credentials: ${created.missing_credentials.join(', ')}.`
  const paths = created.template_warnings.slice(0, 5).map(({ path }) => path)
  const more = created.template_warnings.length - paths.length
  const ignored =
    paths.length > 0 && `Ignored in template.yaml: ${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
  const schedules = created.schedule_errors.map(
    ({ name, index, message }) => `Schedule ${name ?? index + 1} was not created: ${message}`,
  )
  const text = [missing, ignored, ...schedules, ...created.warnings].filter(Boolean).join(' ')
  return text === '' ? undefined : text
}
