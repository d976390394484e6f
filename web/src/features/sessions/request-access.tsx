import { requestAccess } from '@roost/contracts/identity/email-login'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { AddressForm } from './address-form.tsx'

/** Adds the user's address to the allow list, where an admin has enabled access requests. */
export function RequestAccess() {
  const api = useApi()
  const [reply, setReply] = useState<{ message: string; email: string } | null>(null)
  if (reply)
    return (
      <Banner tone="success" title={reply.message}>
        <span className="break-words">{reply.email}</span>
      </Banner>
    )
  return (
    <AddressForm
      action="Request access"
      address=""
      onAddress={async (email) => {
        const { message } = await api.call(requestAccess, { body: { email } })
        setReply({ message, email })
      }}
    />
  )
}
