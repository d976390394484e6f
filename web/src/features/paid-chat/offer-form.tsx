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
    const title = saved.enabled ? 'Strangers may pay for messages now.' : 'The agent is not offered for pay.'
    toast({ title, tone: 'success' })
  }
  return (
    <Form form={form} onSubmit={save} label="Price of a message">
      <FormError />
      <SwitchField
        name="enabled"
        label="Offer messages for pay"
        hint="Whoever pays is answered by this agent, with all that it can do."
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          name="price_usd"
          label="Price of a message"
          unit="USD"
          hint="At most 6 decimals"
          min={0}
          step="any"
        />
        <SelectField name="network" label="Network" options={networkOptions} />
      </div>
      <TextField
        name="pay_to"
        label="Paid to"
        hint="Address of your wallet on that network. Nobody can take a payment back."
        placeholder="0x…"
        autoComplete="off"
        spellCheck={false}
        className="[&_input]:font-mono"
      />
      <TextareaField
        name="description"
        label="Description"
        hint="What payers are told they get"
        emptyAs="null"
        rows={2}
      />
      <SaveRow form={form} />
    </Form>
  )
}

const networkOptions = paidNetworks.map(({ network, label }) => ({ value: network, label, hint: network }))
