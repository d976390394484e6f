import { type PaidChat, PaidChatBody, putPaidChat } from '@roost/contracts/conversations/paid'
import { paidNetworks } from '@roost/contracts/conversations/paid-networks'
import type { z } from 'zod'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import {
  Form,
  FormError,
  NumberField,
  SelectField,
  SwitchField,
  TextareaField,
  TextField,
  useZodForm,
} from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { toast } from '../../ui/toast.tsx'
import { paidChatKey } from './queries.ts'

const OfferValues = PaidChatBody.omit({ asset: true })

export function OfferForm({ name, offer }: { name: string; offer: PaidChat }) {
  const { api, queries } = useApp()
  const { enabled, price_usd, pay_to, network, description } = offer
  const form = useZodForm(OfferValues, {
    values: {
      enabled,
      price_usd: price_usd ?? 0.01,
      pay_to: pay_to ?? '',
      network: network ?? 'eip155:8453',
      description,
    },
  })
  async function save(body: z.output<typeof OfferValues>): Promise<void> {
    const saved = await api.call(putPaidChat, { params: { name }, body })
    await storeReply(queries, paidChatKey(name), saved)
    const title = saved.enabled ? 'Paid chat enabled.' : 'Paid chat disabled.'
    toast({ title, tone: 'success' })
  }
  return (
    <Form form={form} onSubmit={save} label="Price per message">
      <FormError />
      <SwitchField
        name="enabled"
        label="Enable paid chat"
        hint="Anyone who pays can send messages to this agent and use all of its abilities."
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          name="price_usd"
          label="Price per message"
          unit="USD"
          hint="At most 6 decimals"
          min={0}
          step="any"
        />
        <SelectField name="network" label="Network" options={networkOptions} />
      </div>
      <TextField
        name="pay_to"
        label="Wallet address"
        hint="Your wallet on this network. Payments cannot be reversed."
        placeholder="0x…"
        autoComplete="off"
        spellCheck={false}
        className="[&_input]:font-mono"
      />
      <TextareaField name="description" label="Description" hint="Shown to payers" emptyAs="null" rows={2} />
      <SaveRow form={form} />
    </Form>
  )
}

const networkOptions = paidNetworks.map(({ network, label }) => ({ value: network, label, hint: network }))
