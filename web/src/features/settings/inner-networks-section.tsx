import { OpenedNetworkText, PutInnerNetworks, putInnerNetworks } from '@roost/contracts/agents/inner-networks'
import { useController } from 'react-hook-form'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Field } from '../../ui/field.tsx'
import { Form, FormError, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { toast } from '../../ui/toast.tsx'
import { settingKeys } from './queries.ts'

type InnerNetworksProps = { opened: string[]; problem: string | null }

/** Exceptions from the rule that agents reach no private networks. */
export function InnerNetworksSection({ opened, problem }: InnerNetworksProps) {
  const { api, queries } = useApp()
  const form = useZodForm(PutInnerNetworks, { values: { opened } })
  return (
    <Section
      title="Private networks"
      description="Agents cannot reach private networks, metadata services and the host, except for the addresses listed here. Changes apply to running agents immediately."
    >
      {problem !== null && (
        <Banner tone="warning" title="Private networks are not closed.">
          {problem}
        </Banner>
      )}
      <Form
        form={form}
        onSubmit={async (body) => {
          const saved = await api.call(putInnerNetworks, { body })
          await storeReply(queries, settingKeys.innerNetworks, saved)
          toast({ title: 'Allowed private addresses saved.', tone: 'success' })
        }}
      >
        <OpenedField />
        <FormError />
        <SaveRow form={form} />
      </Form>
    </Section>
  )
}

function OpenedField() {
  const { field, fieldState } = useController<{ opened: string[] }, 'opened'>({ name: 'opened' })
  return (
    <Field
      label="Allowed addresses and networks"
      hint="Enter each as 10.0.0.5, 10.0.0.5:443 or 10.1.0.0/16. Press Enter to add it. Name addresses of the host one by one."
      error={fieldState.error?.message ?? null}
    >
      <TagInput
        value={field.value}
        onValueChange={field.onChange}
        onBlur={field.onBlur}
        accept={(text) => OpenedNetworkText.safeParse(text).data ?? null}
        placeholder="10.0.0.5:443"
      />
    </Field>
  )
}
