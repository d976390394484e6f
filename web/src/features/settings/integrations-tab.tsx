import {
  deleteProviderKey,
  type Provider,
  type ProviderKey,
  ProviderKeyBody,
  putProviderKey,
} from '@roost/contracts/foundation/settings'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { SubscriptionsSection } from '../provider-subscriptions/subscriptions-section.tsx'
import { providersQuery, settingKeys } from './queries.ts'
import { UsageSharingSection } from './usage-sharing-section.tsx'

const SlackConnection = lazyPart(
  async () => (await import('../slack/connection-panel.tsx')).SlackConnectionPanel,
)

const names: Record<Provider, { name: string; use: string }> = {
  anthropic: { name: 'Anthropic', use: 'Agents with the runtime claude-code' },
  google: { name: 'Google', use: 'Agents with the runtime gemini-cli' },
  openai: { name: 'OpenAI', use: 'Agents with the runtime codex' },
  github: { name: 'GitHub', use: 'Private templates, skills and repositories' },
  voice: { name: 'Voice', use: 'Speech in voice chats' },
}

/** The provider keys. The platform stores them; no agent's container ever holds one. */
export function IntegrationsTab() {
  const { data } = useSuspenseQuery(providersQuery(useApp().api))
  return (
    <>
      <Section
        title="Provider keys"
        description="API keys of providers. They are stored encrypted and never shown again. Agents never receive them: the platform adds them to requests."
      >
        <ul className="divide-y divide-line rounded-lg border border-line">
          {data.providers.map((row) => (
            <ProviderRow key={row.provider} row={row} />
          ))}
        </ul>
      </Section>
      <SubscriptionsSection />
      <Section title="Slack" description="The Slack app through which people chat with agents.">
        <SlackConnection />
      </Section>
      <UsageSharingSection />
    </>
  )
}

function ProviderRow({ row }: { row: ProviderKey }) {
  const { api, queries } = useApp()
  const [open, setOpen] = useState<'set' | 'remove' | null>(null)
  const { name, use } = names[row.provider]
  const remove = useMutation({
    mutationFn: () => api.call(deleteProviderKey, { params: { provider: row.provider } }),
    onSuccess: () => {
      setOpen(null)
      toast({ title: `Key of ${name} deleted.` })
      return queries.invalidateQueries({ queryKey: settingKeys.providers })
    },
    onError: (error) => toast({ title: error.message, tone: 'danger' }),
  })
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-40 flex-1">
        <p className="font-medium text-sm">{name}</p>
        <p className="text-muted text-xs">{use}</p>
      </div>
      <KeyState row={row} />
      <div className="flex gap-2">
        <Button
          size="sm"
          onClick={() => setOpen('set')}
          aria-label={`${row.configured ? 'Replace' : 'Set'} key of ${name}`}
        >
          {row.configured ? 'Replace' : 'Set key'}
        </Button>
        {row.source === 'stored' ? (
          <Button
            size="sm"
            variant="ghost"
            onClick={() => setOpen('remove')}
            aria-label={`Delete key of ${name}`}
          >
            Delete
          </Button>
        ) : null}
      </div>
      <SetKeyDialog
        provider={row.provider}
        name={name}
        open={open === 'set'}
        onOpenChange={(isOpen) => setOpen(isOpen ? 'set' : null)}
      />
      <ConfirmDialog
        open={open === 'remove'}
        onOpenChange={(isOpen) => setOpen(isOpen ? 'remove' : null)}
        title={`Delete the key of ${name}?`}
        description="Requests of agents that need this key fail from now on, unless the environment sets one."
        action="Delete key"
        pending={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </li>
  )
}

function KeyState({ row }: { row: ProviderKey }) {
  if (!row.configured) return <Badge>not set</Badge>
  return (
    <span className="flex items-center gap-2">
      {row.hint ? <code className="text-muted text-xs">…{row.hint}</code> : null}
      <Badge tone="success">{row.source === 'stored' ? 'stored here' : 'from the environment'}</Badge>
    </span>
  )
}

type SetKeyProps = { provider: Provider; name: string; open: boolean; onOpenChange(open: boolean): void }

function SetKeyDialog({ provider, name, open, onOpenChange }: SetKeyProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Key of ${name}`}
      description="The key is used from the next model request."
    >
      <SetKeyForm provider={provider} name={name} onDone={() => onOpenChange(false)} />
    </Dialog>
  )
}

function SetKeyForm({ provider, name, onDone }: { provider: Provider; name: string; onDone(): void }) {
  const { api, queries } = useApp()
  const form = useZodForm(ProviderKeyBody, { defaultValues: { api_key: '' } })
  async function save(body: z.output<typeof ProviderKeyBody>): Promise<void> {
    await api.call(putProviderKey, { params: { provider }, body })
    await queries.invalidateQueries({ queryKey: settingKeys.providers })
    toast({ title: `Key of ${name} saved.`, tone: 'success' })
    onDone()
  }
  return (
    <Form form={form} onSubmit={save}>
      <FormError />
      <TextField type="password" name="api_key" label="Key" autoComplete="off" autoFocus />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Save key
        </Button>
      </div>
    </Form>
  )
}
