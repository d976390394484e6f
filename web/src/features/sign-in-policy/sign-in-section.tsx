import { putSetting, type Setting } from '@roost/contracts/foundation/settings'
import { useQueries } from '@tanstack/react-query'
import { partOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { Banner } from '../../ui/banner.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Switch } from '../../ui/switch.tsx'
import { flagsQuery, settingKeys, settingQuery } from '../settings/queries.ts'
import { type EmailState, emailStateOf } from './email-state.ts'

const emailKey = 'email_auth_enabled'
const requestsKey = 'public_access_requests_enabled'

/** The sign-in methods and access requests. */
export function SignInSection() {
  const { api } = useApp()
  const [flags, email, requests] = useQueries({
    queries: [flagsQuery(api), settingQuery(api, emailKey), settingQuery(api, requestsKey)],
  })
  const failed = [flags, email, requests].find((query) => query.isError && !query.data)
  return (
    <Section
      title="Sign-in methods"
      description="The first admin signs in with a password, all others with an e-mail code."
    >
      {failed ? (
        <ErrorState
          error={failed.error}
          onRetry={() => {
            for (const query of [flags, email, requests]) void query.refetch()
          }}
        />
      ) : flags.data && email.data && requests.data ? (
        <Switches
          email={email.data}
          state={emailStateOf(flags.data.email_login ?? false, email.data)}
          requests={requests.data}
        />
      ) : (
        <Skeleton className="h-24" />
      )}
    </Section>
  )
}

const emailHints: Record<EmailState, string> = {
  on: 'Addresses on the sign-in allow list get a 6-digit code by e-mail.',
  off: 'Sign-in by e-mail is off. Only the first admin can sign in. Open sessions continue.',
  no_mail: 'Not available, because this platform has no mail server.',
}

function Switches({ email, state, requests }: { email: Setting; state: EmailState; requests: Setting }) {
  const save = useSetting()
  return (
    <>
      {state === 'no_mail' && (
        <Banner tone="warning" title="Sign-in by e-mail is not available.">
          Set <code className="text-xs">ROOST_MAIL_URL</code> where Roost is started, for instance to{' '}
          <code className="text-xs">smtp://user:password@mail.example.com:587</code>, and restart Roost.
        </Banner>
      )}
      <Field layout="row" label="Sign-in by e-mail code" hint={emailHints[state]}>
        <Switch
          checked={state === 'on' || (state === 'no_mail' && email.value === 'true')}
          disabled={state === 'no_mail'}
          onCheckedChange={(isOn) => save.mutate({ key: emailKey, isOn })}
        />
      </Field>
      <Field
        layout="row"
        label="Access requests"
        hint="Anyone who can open the sign-in page may add their own address to the allow list, with the role User."
      >
        <Switch
          checked={requests.value === 'true'}
          onCheckedChange={(isOn) => save.mutate({ key: requestsKey, isOn })}
        />
      </Field>
    </>
  )
}

/** Saves a switch optimistically. */
function useSetting() {
  const { api } = useApp()
  return useOptimisticSave({
    queryKey: ['settings'],
    save: ({ key, isOn }: { key: string; isOn: boolean }) =>
      api.call(putSetting, { params: { key }, body: { value: String(isOn) } }),
    shows: ({ key, isOn }) => [
      partOf<Setting>(settingKeys.plain(key), { value: String(isOn) }),
      ...(key === emailKey
        ? [partOf<Record<string, boolean>>(settingKeys.flags, { email_login: isOn })]
        : []),
    ],
    stale: [['auth-mode']],
  })
}
