import { emailCode } from '@roost/contracts/identity/email-login'
import { z } from 'zod'

const { digits } = emailCode

/** Removes spaces and hyphens of copied codes. */
const Bare = z.string().transform((typed) => typed.replaceAll(/[\s-]/g, ''))

/** For codes of e-mails and of authenticator apps. */
export const DigitCode = Bare.pipe(
  z.string().regex(new RegExp(`^\\d{${digits}}$`), `The code must have ${digits} digits.`),
)
export const RecoveryCode = Bare.pipe(
  z.string().regex(/^[a-z0-9]{10}$/i, 'The recovery code must have 10 letters and digits.'),
)
