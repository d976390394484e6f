import { emailCode } from '@roost/contracts/identity/email-login'
import { z } from 'zod'

const { digits } = emailCode

/** People copy codes with blanks and hyphens in them. */
const Bare = z.string().transform((typed) => typed.replaceAll(/[\s-]/g, ''))

/** Of a mail and of an authenticator app alike. */
export const DigitCode = Bare.pipe(
  z.string().regex(new RegExp(`^\\d{${digits}}$`), `A code has ${digits} digits.`),
)
export const RecoveryCode = Bare.pipe(
  z.string().regex(/^[a-z0-9]{10}$/i, 'A recovery code has 10 letters and digits.'),
)
