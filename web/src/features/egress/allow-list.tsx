import { type AgentEgress, AllowEgress, mostEgressRules } from '@roost/contracts/agents/egress'
import { X } from 'lucide-react'
import type { z } from 'zod'
import { atField } from '../../lib/at-field.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Form, FormError, NumberField, TextField, useZodForm } from '../../ui/form.tsx'
import { Section } from '../../ui/section.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useAllow, useDisallow } from './actions.ts'
import { addressOf } from './words.ts'

/** The hosts that the agent may reach. */
export function AllowList({ name, egress }: { name: string; egress: AgentEgress }) {
  const { pending, remove } = useDisallow(name)
  const rules = egress.allowed.filter(({ id }) => !pending.has(id))
  return (
    <Section
      title="Allow list"
      description={`Hosts that the agent may reach in enforce mode, at most ${mostEgressRules}. “*.example.com” matches all subdomains but not example.com itself. Private addresses are always refused.`}
    >
      <AllowForm name={name} />
      {rules.length === 0 ? (
        <p className="text-muted text-sm">
          The allow list is empty. You can allow recorded destinations in the log below.
        </p>
      ) : (
        <ul
          aria-label="Allowed hosts"
          className="max-h-96 divide-y divide-line overflow-y-auto rounded-lg border border-line bg-surface text-sm"
        >
          {rules.map((rule) => (
            <li key={rule.id} className="flex min-w-0 items-center gap-3 py-1 pr-1.5 pl-4">
              <code className="min-w-0 flex-1 break-all text-xs">{addressOf(rule)}</code>
              <span className="hidden text-muted text-xs sm:inline">
                <RelativeTime at={rule.created_at} />
                {rule.created_by && ` by ${rule.created_by}`}
              </span>
              <IconButton
                size="sm"
                label={`Remove ${addressOf(rule)}`}
                icon={<X aria-hidden />}
                onClick={() => remove(rule)}
              />
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function AllowForm({ name }: { name: string }) {
  const allow = useAllow(name)
  const form = useZodForm(AllowEgress, { defaultValues: { host: '', port: null }, mode: 'onSubmit' })
  async function add(rule: z.output<typeof AllowEgress>): Promise<void> {
    try {
      await allow.mutateAsync([rule])
    } catch (error) {
      throw atField(error, { conflict: 'host' })
    }
    form.reset()
    form.setFocus('host')
  }
  return (
    <Form form={form} onSubmit={add} label="Allow a host" className="gap-3">
      <div className="flex flex-wrap items-start gap-2">
        <TextField
          name="host"
          label="Host"
          placeholder="api.example.com"
          mono
          className="flex-1 basis-48"
          autoComplete="off"
          spellCheck={false}
        />
        <NumberField
          name="port"
          label="Port"
          emptyAs="null"
          placeholder="80, 443"
          min={1}
          max={65_535}
          className="w-28"
        />
        <Button type="submit" pending={form.formState.isSubmitting} className="mt-6.5">
          Allow host
        </Button>
      </div>
      <FormError />
    </Form>
  )
}
