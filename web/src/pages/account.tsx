import { passwordLength } from '@roost/contracts/identity/setup'
import { EmailAddress, setMyEmail, setMyPassword, type User } from '@roost/contracts/identity/users'
import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { z } from 'zod'
import { OwnTokenSection } from '../features/git/own-token-section.tsx'
import { NotificationsSection } from '../features/push/notifications-section.tsx'
import { FactorSection } from '../features/sessions/factor-section.tsx'
import { MessagesSection } from '../features/users/messages-section.tsx'
import { meQuery } from '../features/users/queries.ts'
import { useApp } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { PageHelp } from '../shell/page-help.tsx'
import { Button } from '../ui/button.tsx'
import { Form, FormError, TextField, useZodForm } from '../ui/form.tsx'
import { KeyValues } from '../ui/key-values.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Section } from '../ui/section.tsx'
import { RelativeTime } from '../ui/time.tsx'
import { Title } from '../ui/title.tsx'
import { toast } from '../ui/toast.tsx'

export const route = createLazyRoute('/signed-in/account')({ component: Account })

function Account() {
  const { data: me } = useSuspenseQuery(meQuery(useApp().api))
  // Users who sign in by e-mail code have no password.
  const hasPassword = me.role === 'admin' && me.username === 'admin'
  return (
    <Page width="text">
      <Title of={['Account']} />
      <PageHeader
        title="Account"
        aside={<PageHelp guide="operate/sign-in" topic="Sign-in" />}
        description="Your profile, sign-in methods and personal settings."
      />
      <Section title="Profile">
        <KeyValues
          items={[
            { label: 'User name', value: me.username },
            { label: 'E-mail', value: me.email ?? 'none' },
            { label: 'Role', value: me.role },
            { label: 'Account created', value: <RelativeTime at={me.created_at} /> },
            {
              label: 'Last sign-in',
              value: me.last_login_at ? <RelativeTime at={me.last_login_at} /> : 'never',
            },
          ]}
        />
      </Section>
      {hasPassword ? (
        <>
          <EmailSection me={me} />
          <PasswordSection />
        </>
      ) : null}
      <FactorSection />
      <OwnTokenSection />
      <NotificationsSection me={me} />
      <MessagesSection />
    </Page>
  )
}

const EmailForm = z.object({ email: EmailAddress })

function EmailSection({ me }: { me: User }) {
  const { api, queries } = useApp()
  const form = useZodForm(EmailForm, { defaultValues: { email: me.email ?? '' } })
  async function save(body: z.output<typeof EmailForm>): Promise<void> {
    await api.call(setMyEmail, { body })
    await queries.invalidateQueries({ queryKey: ['me'] })
    toast({ title: 'E-mail address saved.', tone: 'success' })
  }
  return (
    <Section
      title="E-mail address"
      description="You can sign in with this address instead of your user name."
    >
      <Form form={form} onSubmit={save} className="max-w-sm">
        <FormError />
        <TextField name="email" label="E-mail" type="email" autoComplete="email" />
        <div>
          <Button type="submit" pending={form.formState.isSubmitting}>
            Save e-mail address
          </Button>
        </div>
      </Form>
    </Section>
  )
}

const { least, most } = passwordLength
const PasswordForm = z
  .object({
    current_password: z.string().min(1, 'Enter your current password.'),
    new_password: z
      .string()
      .min(least, `The password must have at least ${least} characters.`)
      .max(most, `The password must have at most ${most} characters.`),
    again: z.string(),
  })
  .refine((body) => body.new_password === body.again, {
    path: ['again'],
    message: 'The passwords do not match.',
  })

function PasswordSection() {
  const { api } = useApp()
  const form = useZodForm(PasswordForm, {
    defaultValues: { current_password: '', new_password: '', again: '' },
  })
  async function save({ current_password, new_password }: z.output<typeof PasswordForm>): Promise<void> {
    await api.call(setMyPassword, { body: { current_password, new_password } })
    form.reset()
    toast({ title: 'Password changed. Your other sessions are signed out.', tone: 'success' })
  }
  return (
    <Section title="Password" description="Changing the password signs you out in all other browsers.">
      <Form form={form} onSubmit={save} className="max-w-sm">
        <FormError />
        <TextField
          type="password"
          name="current_password"
          label="Current password"
          autoComplete="current-password"
        />
        <TextField
          type="password"
          name="new_password"
          label="New password"
          hint={`${least} to ${most} characters`}
          autoComplete="new-password"
        />
        <TextField type="password" name="again" label="Confirm new password" autoComplete="new-password" />
        <div>
          <Button type="submit" pending={form.formState.isSubmitting}>
            Change password
          </Button>
        </div>
      </Form>
    </Section>
  )
}
