import { AgentQuotas, putAgentQuotas } from '@roost/contracts/foundation/platform-settings'
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Form, FormError, NumberField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { quotasQuery, settingKeys } from './queries.ts'

export function QuotaSection() {
  const quotas = useQuery(quotasQuery(useApp().api))
  return (
    <Section
      title="Agent quota"
      description="The maximum number of agents per creator. Existing agents above the limit are kept. Admins have no limit."
    >
      {quotas.isError && !quotas.data ? (
        <ErrorState error={quotas.error} onRetry={() => void quotas.refetch()} />
      ) : quotas.data ? (
        <QuotaForm quotas={quotas.data} />
      ) : (
        <Skeleton className="h-16" />
      )}
    </Section>
  )
}

type Quotas = z.output<typeof AgentQuotas>

function QuotaForm({ quotas }: { quotas: Quotas }) {
  const { api, queries } = useApp()
  const form = useZodForm(AgentQuotas, { values: quotas })
  async function save(body: Quotas): Promise<void> {
    await storeReply(queries, settingKeys.quotas, await api.call(putAgentQuotas, { body }))
    toast({ title: 'Agent quota saved.', tone: 'success' })
  }
  return (
    <Form form={form} onSubmit={save}>
      <FormError />
      <NumberField
        name="max_agents_creator"
        label="Agents per creator"
        hint="0 to 1,000. 0 means unlimited."
        unit="agents"
        min={0}
        max={1000}
        className="max-w-56"
      />
      <SaveRow form={form} />
    </Form>
  )
}
