import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { AllowListSection } from '../features/allow-list/allow-list-section.tsx'
import { InviteDialog } from '../features/allow-list/invite-dialog.tsx'
import { PeopleSection } from '../features/people/people-section.tsx'
import { QuotaSection } from '../features/settings/quota-section.tsx'
import { FactorPolicySection } from '../features/sign-in-policy/factor-policy-section.tsx'
import { SignInSection } from '../features/sign-in-policy/sign-in-section.tsx'
import { meQuery } from '../features/users/queries.ts'
import { AdminsOnly } from '../shell/admins-only.tsx'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { PageHelp } from '../shell/page-help.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/people')({ component: PeoplePage })

/** Users, roles and sign-in methods. */
function PeoplePage() {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  return (
    <Page>
      <Title of={['People']} />
      <PageHeader title="People" aside={<PageHelp guide="operate/sign-in" topic="People" />} />
      {me.role === 'admin' ? <People /> : <AdminsOnly what="view all accounts" />}
    </Page>
  )
}

function People() {
  const [isInviting, setInviting] = useState(false)
  const invite = () => setInviting(true)
  return (
    <div className="flex min-w-0 flex-col gap-8">
      <PeopleSection onInvite={invite} />
      <AllowListSection onInvite={invite} />
      <div className="max-w-4xl border-t pt-6">
        <SignInSection />
        <FactorPolicySection />
        <QuotaSection />
      </div>
      <InviteDialog open={isInviting} onOpenChange={setInviting} />
    </div>
  )
}
