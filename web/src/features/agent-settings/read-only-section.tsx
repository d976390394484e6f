import { defaultReadOnlyConfig, putReadOnly, type ReadOnlyConfig } from '@roost/contracts/agents/settings'
import { useSuspenseQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Form, FormError, TextareaField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { readOnlyQuery } from './queries.ts'
import { SwitchRow } from './switch-row.tsx'
import { type SettingProps, useSave, useToggle } from './use-save.ts'

const appliedWords = {
  now: 'The running agent knows it already.',
  next_start: 'It holds from the next start on.',
}

/** Read-only mode: the agent may not change source files; people may. */
export function ReadOnlySection({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const { name } = agent
  const query = readOnlyQuery(api, name)
  const { data } = useSuspenseQuery(query)
  const toggle = useToggle(query.queryKey, agent, {
    save: (enabled) => api.call(putReadOnly, { params: { name }, body: { enabled } }),
    shown: (enabled) => ({ enabled }),
    said: ({ enabled, applied }) => `Read-only is ${enabled ? 'on' : 'off'}. ${appliedWords[applied]}`,
  })
  return (
    <Section
      title="Read-only"
      description="Keeps the agent from changing the sources it works with. Its outputs stay writable, and so does everything for people."
    >
      <SwitchRow
        label="Read-only mode"
        hint="Enforced below the runtime: also against shell commands."
        checked={data.enabled}
        onCheckedChange={(isOn) => toggle.mutate(isOn)}
        disabled={!isOwner || agent.is_system}
      />
      {isOwner && data.enabled ? (
        <PatternsForm agent={agent} isEnabled={data.enabled} config={data.config} />
      ) : null}
    </Section>
  )
}

const Patterns = z.object({ allowed: z.string(), blocked: z.string() })
type PatternsProps = Pick<SettingProps, 'agent'> & { isEnabled: boolean; config: ReadOnlyConfig }

function PatternsForm({ agent, isEnabled, config }: PatternsProps) {
  const api = useApi()
  const { name } = agent
  const form = useZodForm(Patterns, { values: textsOf(config) })
  const save = useSave(readOnlyQuery(api, name).queryKey, agent, {
    save: (patterns: ReadOnlyConfig) =>
      api.call(putReadOnly, { params: { name }, body: { enabled: isEnabled, config: patterns } }),
    said: ({ applied }) => `The patterns are saved. ${appliedWords[applied]}`,
  })
  return (
    <Form
      form={form}
      onSubmit={async ({ allowed, blocked }) => {
        await save({ allowed_patterns: linesOf(allowed), blocked_patterns: linesOf(blocked) })
      }}
    >
      <FormError />
      <TextareaField
        name="allowed"
        label="May be changed"
        hint="One pattern a line. These win over the ones below."
        rows={6}
        mono
        spellCheck={false}
      />
      <TextareaField name="blocked" label="May not be changed" rows={6} mono spellCheck={false} />
      <div className="flex flex-wrap items-center gap-2">
        <SaveRow form={form} />
        <Button
          variant="ghost"
          onClick={() => {
            const texts = textsOf(defaultReadOnlyConfig)
            form.setValue('allowed', texts.allowed, { shouldDirty: true })
            form.setValue('blocked', texts.blocked, { shouldDirty: true })
          }}
        >
          Fill in the defaults
        </Button>
      </div>
    </Form>
  )
}

function textsOf(config: ReadOnlyConfig): z.output<typeof Patterns> {
  return { allowed: config.allowed_patterns.join('\n'), blocked: config.blocked_patterns.join('\n') }
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
}
