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
  now: 'The running agent already applies it.',
  next_start: 'It applies after the next start.',
}

/** Read-only mode: the agent cannot change source files; people can. */
export function ReadOnlySection({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const { name } = agent
  const query = readOnlyQuery(api, name)
  const { data } = useSuspenseQuery(query)
  const toggle = useToggle(query.queryKey, agent, {
    save: (enabled) => api.call(putReadOnly, { params: { name }, body: { enabled } }),
    shown: (enabled) => ({ enabled }),
    message: ({ enabled, applied }) =>
      `Read-only mode turned ${enabled ? 'on' : 'off'}. ${appliedWords[applied]}`,
  })
  return (
    <Section
      title="Read-only mode"
      description="Prevents the agent from changing source files. Output files stay writable, and people can still change every file."
    >
      <SwitchRow
        label="Read-only mode"
        hint="Enforced by the platform, also for shell commands."
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
    message: ({ applied }) => `Patterns saved. ${appliedWords[applied]}`,
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
        label="Writable files"
        hint="One pattern per line. Writable patterns take precedence over protected ones."
        rows={6}
        mono
        spellCheck={false}
      />
      <TextareaField name="blocked" label="Protected files" rows={6} mono spellCheck={false} />
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
          Restore defaults
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
