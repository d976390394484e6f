import { RequestEmailCode } from '@roost/contracts/identity/email-login'
import { Button } from '../../ui/button.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'

/** Asks for the user's e-mail address. */
export function AddressForm({
  action,
  address,
  onAddress,
}: {
  action: string
  /** The initial value. */
  address: string
  onAddress: (email: string) => Promise<void>
}) {
  const form = useZodForm(RequestEmailCode, { defaultValues: { email: address } })
  return (
    <Form form={form} onSubmit={({ email }) => onAddress(email)}>
      <FormError />
      <TextField name="email" label="E-mail address" type="email" autoComplete="username" autoFocus />
      <Button type="submit" variant="primary" pending={form.formState.isSubmitting} className="w-full">
        {action}
      </Button>
    </Form>
  )
}
