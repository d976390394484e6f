import type { AgentDetails } from '@roost/contracts/agents/agent'
import { type AgentAuth, AssignSubscription } from '@roost/contracts/runs/provider-subscriptions'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import { toast } from '../../ui/toast.tsx'
import { meQuery } from '../users/queries.ts'
import { useAssign } from './actions.ts'
import { agentAuthQuery, subscriptionsQuery } from './queries.ts'
import { kindOf, providerNames, providerOf } from './words.ts'

type Props = { agent: AgentDetails; isOwner: boolean }

/** How the agent authenticates with its model provider. Admins choose from a list; owners enter a name. */
export function AgentAuthSection({ agent, isOwner }: Props) {
  const api = useApi()
  const { data: auth } = useSuspenseQuery(agentAuthQuery(api, agent.name))
  const { data: me } = useSuspenseQuery(meQuery(api))
  return (
    <Section
      title="Provider access"
      description="How the agent authenticates with its model provider: a shared subscription or the platform’s key. Neither is stored in the container."
    >
      {auth.auth_mode === 'not_configured' && (
        <Banner tone="warning">
          The platform has no key for {providerNames[providerOf[agent.runtime]]}. Runs fail until an admin
          sets a key or assigns a subscription.
        </Banner>
      )}
      {isOwner && me.role === 'admin' ? (
        <Choice agent={agent} auth={auth} />
      ) : isOwner ? (
        <Named agent={agent} auth={auth} />
      ) : (
        <p className="text-sm">
          {auth.subscription_name === null
            ? 'The agent uses the platform’s key.'
            : `The agent uses the subscription ${auth.subscription_name}.`}
        </p>
      )}
    </Section>
  )
}

/** A select value that is not a subscription ID. */
const platformKey = 'platform'

type AuthProps = { agent: AgentDetails; auth: AgentAuth }

function Choice({ agent, auth }: AuthProps) {
  const { data } = useSuspenseQuery(subscriptionsQuery(useApi()))
  const assign = useMutation({
    mutationFn: useAssign(agent),
    onError: (error) => void toast({ title: error.message, tone: 'danger' }),
  })
  const offered = data.filter(({ provider }) => provider === providerOf[agent.runtime])
  const chosen = offered.find(({ name }) => name === auth.subscription_name)
  return (
    <Field
      label="Subscription"
      hint={offered.length === 0 ? 'No subscriptions of this provider. Add one in the settings.' : undefined}
    >
      <Select
        value={chosen?.id ?? platformKey}
        onValueChange={(id) => assign.mutate(offered.find((each) => each.id === id)?.name ?? null)}
        disabled={assign.isPending}
        options={[
          { value: platformKey, label: 'None (platform’s key)' },
          ...offered.map((each) => ({ value: each.id, label: each.name, hint: kindOf(each) })),
        ]}
      />
    </Field>
  )
}

function Named({ agent, auth }: AuthProps) {
  const assign = useAssign(agent)
  const clear = useMutation({
    mutationFn: () => assign(null),
    onError: (error) => void toast({ title: error.message, tone: 'danger' }),
  })
  const form = useZodForm(AssignSubscription, {
    values: { subscription_name: auth.subscription_name ?? '' },
  })
  return (
    <Form form={form} onSubmit={({ subscription_name }) => assign(subscription_name)}>
      <FormError />
      <TextField
        name="subscription_name"
        label="Subscription"
        hint="The name of the subscription, provided by an admin"
        placeholder="Platform’s key"
        autoComplete="off"
        spellCheck={false}
      />
      <SaveRow form={form} />
      {auth.subscription_name !== null && (
        <div>
          <Button size="sm" pending={clear.isPending} onClick={() => clear.mutate()}>
            Use platform’s key
          </Button>
        </div>
      )}
    </Form>
  )
}
