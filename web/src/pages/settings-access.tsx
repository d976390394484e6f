import { useState } from 'react'
import { AllowListSection } from '../features/allow-list/allow-list-section.tsx'
import { InviteDialog } from '../features/allow-list/invite-dialog.tsx'
import { PeopleSection } from '../features/people/people-section.tsx'
import { QuotaSection } from '../features/settings/quota-section.tsx'
import { FactorPolicySection } from '../features/sign-in-policy/factor-policy-section.tsx'
import { SignInSection } from '../features/sign-in-policy/sign-in-section.tsx'

/** Users, sign-in methods and roles. */
export function AccessTab() {
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
