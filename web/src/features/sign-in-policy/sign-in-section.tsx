import { putSetting, type Setting } from '@roost/contracts/foundation/settings'
import { useQueries } from '@tanstack/react-query'
import { partOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
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

/** Which ways of signing in there are, and who may ask for one. */
export function SignInSection() {
  const { api } = useApp()
  const [flags, email, requests] = useQueries({
    queries: [flagsQuery(api), settingQuery(api, emailKey), settingQuery(api, requestsKey)],
  })
  const failed = [flags, email, requests].find((query) => query.isError && !query.data)
  return (
    <Section
      title="Signing in"
      description="The first admin signs in with a password; everybody else with a code from a mail."
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
  on: 'Addresses on the list above get a code of six digits by mail.',
  off: 'Switched off: only the first admin can sign in. Sessions that are open go on.',
  no_mail: 'Off, because this installation sends no mail yet.',
}

function Switches({ email, state, requests }: { email: Setting; state: EmailState; requests: Setting }) {
  const save = useSetting()
  return (
    <>
      {state === 'no_mail' && (
        <Banner tone="warning" title="Nobody can sign in by e-mail.">
          Set <code className="text-xs">ROOST_MAIL_URL</code> where Roost is started, for instance to{' '}
          <code className="text-xs">smtp://user:password@mail.example.com:587</code>, and start it again.
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
        hint="Anybody who can open the sign-in page may put their own address on the list, with the role User."
      >
        <Switch
          checked={requests.value === 'true'}
          onCheckedChange={(isOn) => save.mutate({ key: requestsKey, isOn })}
        />
      </Field>
    </>
  )
}

/** Stores a switch; shown at once and taken back when it is refused. */
function useSetting() {
  const { api } = useApp()
  return useAtOnce({
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
