import { requestAccess } from '@roost/contracts/identity/email-login'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { AddressForm } from './address-form.tsx'

/** Puts the own address on the list of those who may sign in, where an admin lets anybody do so. */
export function RequestAccess() {
  const api = useApi()
  const [done, setDone] = useState<{ message: string; email: string } | null>(null)
  if (done)
    return (
      <Banner tone="success" title={done.message}>
        <span className="break-words">{done.email}</span>
      </Banner>
    )
  return (
    <AddressForm
      action="Request access"
      address=""
      onAddress={async (email) => {
        const { message } = await api.call(requestAccess, { body: { email } })
        setDone({ message, email })
      }}
    />
  )
}
