import {
  modelProviders,
  PutSubscription,
  type Subscription,
  type SubscriptionTest,
  testSubscription,
} from '@roost/contracts/runs/provider-subscriptions'
import { useState } from 'react'
import { useFormContext } from 'react-hook-form'
import { atField } from '../../lib/at-field.ts'
import { describeFault } from '../../lib/fault.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, SelectField, TextField, useZodForm } from '../../ui/form.tsx'
import { usePutSubscription } from './actions.ts'
import { providerNames, testWords } from './words.ts'

type DialogProps = { editing: Subscription | 'new' | null; onClose(): void }

/** Adds a subscription or replaces its token. */
export function SubscriptionDialog({ editing, onClose }: DialogProps) {
  return (
    <Dialog
      open={editing !== null}
      onOpenChange={onClose}
      title={editing === 'new' || editing === null ? 'Add subscription' : `Replace token of ${editing.name}`}
      description="The token is stored encrypted and never shown again. It is used from the next model request."
    >
      {editing !== null && <SubscriptionForm stored={editing === 'new' ? null : editing} onClose={onClose} />}
    </Dialog>
  )
}

function SubscriptionForm({ stored, onClose }: { stored: Subscription | null; onClose(): void }) {
  const put = usePutSubscription()
  const form = useZodForm(PutSubscription, {
    defaultValues: {
      name: stored?.name ?? '',
      provider: stored?.provider ?? 'anthropic',
      token: '',
      subscription_type: stored?.subscription_type ?? null,
      rate_limit_tier: stored?.rate_limit_tier ?? null,
    },
  })
  return (
    <Form
      form={form}
      label="Subscription"
      onSubmit={async (body) => {
        try {
          await put(body)
        } catch (error) {
          throw atField(error, { conflict: 'provider' })
        }
        onClose()
      }}
    >
      <TextField
        name="name"
        label="Name"
        hint="Agents refer to the subscription by this name"
        placeholder="team-max"
        required
        readOnly={stored !== null}
        autoFocus={stored === null}
        autoComplete="off"
      />
      <SelectField
        name="provider"
        label="Provider"
        options={modelProviders.map((value) => ({ value, label: providerNames[value] }))}
      />
      <TextField
        type="password"
        name="token"
        label="Token"
        hint={
          <>
            The output of <code>claude setup-token</code> for a Claude plan, or an API key
          </>
        }
        required
        autoFocus={stored !== null}
        autoComplete="off"
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          name="subscription_type"
          label="Plan"
          placeholder="max"
          emptyAs="null"
          autoComplete="off"
        />
        <TextField name="rate_limit_tier" label="Tier" placeholder="20x" emptyAs="null" autoComplete="off" />
      </div>
      <Trial />
      <FormError />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          {stored === null ? 'Add subscription' : 'Replace token'}
        </Button>
      </DialogButtons>
    </Form>
  )
}

type Verdict = { of: string; tone: 'success' | 'warning' | 'danger'; words: string }
const tones = {
  ok: 'success',
  rate_limited: 'warning',
  invalid_token: 'danger',
  unreachable: 'warning',
} as const

/** Tests the token in the form with the provider. The result applies to that token only. */
function Trial() {
  const api = useApi()
  const form = useFormContext<{ token: string; provider: Subscription['provider'] }>()
  const [verdict, setVerdict] = useState<Verdict | null>(null)
  const [isPending, setPending] = useState(false)
  const [token, provider] = form.watch(['token', 'provider'])
  const of = `${provider} ${token}`

  async function runTest(): Promise<void> {
    if (!(await form.trigger('token'))) return
    setPending(true)
    try {
      const found: SubscriptionTest = await api.call(testSubscription, { body: { token, provider } })
      setVerdict({ of, tone: tones[found.status], words: testWords(found) })
    } catch (error) {
      setVerdict({ of, tone: 'danger', words: describeFault(error).sentence })
    } finally {
      setPending(false)
    }
  }

  return (
    <div className="flex flex-col items-start gap-3">
      <Button size="sm" pending={isPending} onClick={() => void runTest()}>
        Test token
      </Button>
      {verdict?.of === of && (
        <Banner tone={verdict.tone} className="w-full">
          {verdict.words}
        </Banner>
      )}
    </div>
  )
}
